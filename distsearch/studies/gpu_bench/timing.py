"""What ``bench --device gpu`` and benchmarks/gpu measure by, and a row of what they found."""

import json


class Timed:
    """A GPU whose kernels' times are kept by name."""

    def __init__(self, gpu):
        self._gpu, self.marks = gpu, []

    def __getattr__(self, name):
        return getattr(self._gpu, name)

    def kernel(self, source, name, **defines):
        kernel, gpu, marks = self._gpu.kernel(source, name, **defines), self._gpu, self.marks

        class Marked:
            def __call__(self, *what):
                before = gpu.mark()
                kernel(*what)
                marks.append((name, before, gpu.mark()))

            def __getattr__(self, attribute):
                return getattr(kernel, attribute)

        return Marked()

    def seconds_by_kernel(self):
        """Return the seconds of each kernel since the last call of this."""
        found = {}
        for name, seconds in self.launches():
            found[name] = found.get(name, 0.0) + seconds
        return found

    def launches(self):
        """Return (kernel, seconds) of each launch since the last call of this or the above."""
        found = [(name, self._gpu.seconds(before, after)) for name, before, after in self.marks]
        self.marks.clear()
        return found


def print_row(**fields):
    """Print fields as a line of JSON, numbers to four digits."""
    rounded = {name: float(f"{each:.4g}") if isinstance(each, float) else each for name, each in fields.items()}
    print(json.dumps(rounded), flush=True)


def row(kernel, unit, count, kernel_seconds, limit, seconds, cpu_seconds, **more):
    """Return a row: so many units in so many seconds of the kernel's, of ``limit`` that it could do in a second.

    seconds: from arrays of the host to answers there; cpu_seconds: of one rank of this program for the same.
    """
    rate = count / kernel_seconds if kernel_seconds else 0.0
    return {
        "kernel": kernel,
        "unit": unit,
        "rate": rate,
        "limit": limit,
        "of_limit": rate / limit if limit else None,
        "kernel_seconds": kernel_seconds,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "times_cpu": cpu_seconds / seconds if seconds else None,
        **more,
    }
