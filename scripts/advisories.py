"""Say what pip-audit's JSON on stdin found: a line a vulnerability, and how many packages there are advisories of.

The status is 0 if nothing is known of any, 1 if something is, and 77 if the service has advisories of none: pip-audit
counts a package that the service does not know as one without vulnerabilities.
"""

import json
import sys

KIND = sys.argv[1]  # of packages, for the lines

packages = json.load(sys.stdin)["dependencies"]
audited = [package for package in packages if "skip_reason" not in package]
found = [(package, each) for package in audited for each in package["vulns"]]
for package, each in found:
    names, fixed = " ".join([each["id"], *each["aliases"]]), " or ".join(each["fix_versions"]) or "no release"
    print(f"{KIND}: {package['name']} {package['version']} has {names}, mended in {fixed}")
print(f"{KIND}: {len(audited)} of {len(packages)} packages audited, {len(found)} known vulnerabilities")
unknown = [package["name"] for package in packages if "skip_reason" in package]
if audited and unknown:
    print(f"{KIND}: no advisories of {', '.join(unknown)}")
sys.exit(77 if not audited else bool(found))
