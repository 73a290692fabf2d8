"""The processor that kernels are made for, and which of the instructions it has that matter to their speed."""

import functools
from typing import Any

import llvmlite.binding
import numba.core.config

_config: Any = numba.core.config
_COUNT = "<8 x i64> @llvm.ctlz.v8i64(<8 x i64>{}, i1{})"
# By name: LLVM's feature, an instruction, and what LLVM makes that instruction of where there is the feature.
_KINDS = {
    "AVX2": (
        "avx2",
        "vpaddq\t%ymm",
        "define <4 x i64> @f(<4 x i64> %x) {\n %y = add <4 x i64> %x, %x\n ret <4 x i64> %y\n}",
    ),
    "BMI2": ("bmi2", "shlx", "define i64 @f(i64 %x, i64 %n) {\n %y = shl i64 %x, %n\n ret i64 %y\n}"),
    "AVX-512": (
        "avx512cd",
        "vplzcntq",
        f"declare {_COUNT.format('', '')}\n"
        f"define <8 x i64> @f(<8 x i64> %x) {{\n %y = call {_COUNT.format(' %x', ' true')}\n ret <8 x i64> %y\n}}",
    ),
}


def name() -> str:
    """Return LLVM's name of the processor."""
    return _config.CPU_NAME or llvmlite.binding.get_host_cpu_name()


@functools.cache
def has(kind: str) -> bool:
    """Whether it has AVX2, BMI2 or AVX-512: if LLVM makes such an instruction."""
    feature, instruction, source = _KINDS[kind]
    named = _config.CPU_FEATURES
    if named is None:  # numba then names those of this machine, whatever the processor is called
        return llvmlite.binding.get_host_cpu_features().get(feature, False)
    # names of processors stand for features that only LLVM knows
    llvmlite.binding.initialize_native_target()
    llvmlite.binding.initialize_native_asmprinter()
    target = llvmlite.binding.Target.from_default_triple()
    machine = target.create_target_machine(cpu=_config.CPU_NAME or "", features=named)
    return instruction in machine.emit_assembly(llvmlite.binding.parse_assembly(source))


def instructions() -> list[str]:
    """Return the names of those that it has."""
    return [kind for kind in _KINDS if has(kind)]
