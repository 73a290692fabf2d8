"""C structs of the kernels, generated from the numpy dtypes that Python fills: a field is declared once, in the dtype.

A source says ``#include "dtypes/MODULE.h"`` where the structs of a module of this package belong; ``build`` makes it.
"""

import importlib
from pathlib import Path

import numpy as np

_NAMES = {
    **{"f4": "float", "f8": "double", "i1": "int8_t", "i2": "int16_t", "i4": "int", "i8": "int64_t"},
    **{"u1": "uint8_t", "u2": "uint16_t", "u4": "unsigned", "u8": "uint64_t"},
}


def struct(name, fields, align=1):
    """Return the dtype of a C struct.

    fields: as ``np.dtype`` takes them; align: bytes that its address is a multiple of, if its fields ask for less.
    """
    end, offsets, plain = 0, [], np.dtype(fields)
    for field in plain.names:
        each = _align(plain[field])
        offsets.append(-(-end // each) * each)
        end, align = offsets[-1] + plain[field].itemsize, max(align, each)
    spec = {"names": plain.names, "formats": [plain[field] for field in plain.names], "offsets": offsets}
    return np.dtype({**spec, "itemsize": -(-end // align) * align}, metadata={"struct": name, "align": align})


def _align(dtype):
    base = dtype.subdtype[0] if dtype.subdtype else dtype
    return (base.metadata or {}).get("align", base.alignment)


def typed(name, dtype="u8"):
    """Return the dtype of a field that C knows as a type of this name: an address, or what ``dtype`` says."""
    return np.dtype(dtype, metadata={"type": name})


COUNTER = typed("unsigned long long")  # what atomicAdd takes


def is_header(name):
    """Return whether a file that a source includes is one that ``header`` makes."""
    return name.startswith("dtypes/")


def header(name):
    """Return the text of such a file: the structs of its module, and those that they contain."""
    text = {}
    for each in vars(importlib.import_module(f".{Path(name).stem}", __package__)).values():
        if isinstance(each, np.dtype) and (each.metadata or {}).get("struct"):
            _add(each, text)
    return "\n".join(text.values())


def _add(dtype, text):
    """Add to ``text``, by name, what declares a struct, after those that it contains."""
    name, align = dtype.metadata["struct"], dtype.metadata["align"]
    fields = "".join(f"    {_declared(field, dtype[field], text)};\n" for field in dtype.names)
    attribute = f"alignas({align}) " if align > 8 else ""
    text[name] = (
        f"#ifndef STRUCT_{name}\n#define STRUCT_{name}\nstruct {attribute}{name} {{\n{fields}}};\n"
        f'static_assert(sizeof({name}) == {dtype.itemsize}, "as numpy has it");\n#endif\n'
    )


def _declared(field, dtype, text):
    base, shape = dtype.subdtype or (dtype, ())
    metadata = base.metadata or {}
    if "type" not in metadata and "struct" in metadata:
        _add(base, text)
    name = metadata.get("type") or metadata.get("struct") or _NAMES[base.str[1:]]
    return f"{name} {field}" + "".join(f"[{n}]" for n in shape)
