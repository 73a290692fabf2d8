"""Print a line for each vulnerability that pip-audit's JSON on stdin has, and how many packages were audited.

The status is 0 if no vulnerability is known, 1 if any is, and 77 if the service knows none of the packages: pip-audit
counts a package that the service does not know as one without vulnerabilities.
"""

import json
import sys

KIND = sys.argv[1]  # of packages, for the lines

packages = json.load(sys.stdin)["dependencies"]
audited = [package for package in packages if "skip_reason" not in package]
found = [(package, each) for package in audited for each in package["vulns"]]
for package, each in found:
    names, fixed = " ".join([each["id"], *each["aliases"]]), " or ".join(each["fix_versions"])
    state = f"fixed in {fixed}" if fixed else "not fixed yet"
    print(f"{KIND}: {package['name']} {package['version']} has {names}, {state}")
print(f"{KIND}: {len(audited)} of {len(packages)} packages audited, {len(found)} known vulnerabilities")
unknown = [package["name"] for package in packages if "skip_reason" in package]
if audited and unknown:
    print(f"{KIND}: not audited: {', '.join(unknown)}")
sys.exit(77 if not audited else bool(found))
