"""A compiled density as a C function, which nutpie calls without the interpreter and its lock."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from typing import Any, Final

import numpy as np
import nutpie
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.registry import cpu_target
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype
from numpy.typing import NDArray
from nutpie import _lib
from nutpie.sample import CompiledModel

type Arrays = Sequence[NDArray[Any]]
type Shapes = Sequence[tuple[int, ...]]

# Nutpie calls addresses, so that a change of their arguments is a crash and not an error.
_NUTPIE: Final = "0.16."
# What nutpie makes of the number that the density returns.
_DONE, _REFUSED, _FAILED = 0, 1, -1

_NUMBER, _WORD, _CODE = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_NUMBERS, _ADDRESSES = _NUMBER.as_pointer(), ir.IntType(8).as_pointer().as_pointer()
_SERIAL = count()


@dataclass(frozen=True, slots=True)
class NativeDensity:
    """Addresses of C functions, and what holds their code in memory."""

    density: int
    identity: int
    size: int
    code: Any

    def model(self, data: Arrays, start: Callable[[int], NDArray[np.float64]]) -> Any:
        """Join with data of the shapes and types compiled for, to what ``nutpie.sample`` takes."""
        return _Model(None, self, tuple(data), start)


def native_density(function: Any, shapes: Shapes, data: Arrays) -> NativeDensity | None:
    """Wrap a Numba function of variables and data that returns a log density and its gradients.

    It is made anew in every process: on disk it could be out of date, or written by two at once.
    """
    if not nutpie.__version__.startswith(_NUTPIE):
        return None
    try:
        return _wrapped(function, shapes, data)
    except Exception:  # Numba's internals are no interface: other versions may fail in any way
        return None


def _wrapped(function: Any, shapes: Shapes, data: Arrays) -> NativeDensity:
    values = [types.Array(types.float64, len(shape), "C") for shape in shapes]
    kinds = [types.Array(from_dtype(array.dtype), array.ndim, "C") for array in data]
    # PyTensor's functions take *args, which Numba types as one tuple.
    given = (types.Tuple.from_types((*values, *kinds)),)
    function.compile(given)
    compiled = _as_loaded(function, given)
    serial = next(_SERIAL)
    names = f"bayescal_density_{serial}", f"bayescal_identity_{serial}"
    with global_compiler_lock:
        context = function.targetctx.subtarget(enable_nrt=True)
        library = context.codegen().create_library(names[0])
        module = context.create_module(names[0])
        _add_density(context, module, names[0], compiled, shapes, [one.shape for one in data])
        _add_identity(module, names[1])
        context.post_lowering(module, library)
        library.add_ir_module(module)
        library.finalize()
    density, identity = (library.get_pointer_to_function(name) for name in names)
    return NativeDensity(density, identity, sum(map(math.prod, shapes)), (library, compiled))


def _as_loaded(function: Any, given: tuple[Any, ...]) -> Any:
    """Compiled code as later processes load it from the cache.

    Where it was compiled in this one, what it calls is that of functions compiled before it, whose
    last digits may differ: the same seed would not give the same draws.
    """
    compiled = function.overloads[given]
    if not function.stats.cache_misses:
        return compiled
    context = CPUContext(cpu_target.typing_context, "cpu")
    return function._cache.load_overload(given, context) or compiled


def _add_density(
    context: Any, module: Any, name: str, compiled: Any, shapes: Shapes, data_shapes: Shapes
) -> None:
    """Add ``int density(size, point, gradient, value, addresses)``."""
    builder, arguments = _function(module, name, [_WORD, _NUMBERS, _NUMBERS, _NUMBERS, _ADDRESSES])
    _, point, gradient, value, addresses = arguments
    (packed,), result = compiled.signature.args, compiled.signature.return_type
    starts = [_WORD(start) for start in accumulate(map(math.prod, shapes), initial=0)]
    values = [builder.gep(point, [start]) for start in starts[:-1]]
    places = range(len(data_shapes))
    data = [builder.load(builder.gep(addresses, [_WORD(place)])) for place in places]
    arrays = [
        _array(context, builder, *given)
        for given in zip(packed, [*values, *data], [*shapes, *data_shapes], strict=True)
    ]
    status, found = context.call_conv.call_function(
        builder,
        _native(context, builder, compiled),
        result,
        (packed,),
        [context.make_tuple(builder, packed, arrays)],
    )
    with builder.if_then(status.is_error, likely=False):
        builder.ret(_CODE(_FAILED))
    log_density, *slopes = cgutils.unpack_tuple(builder, found)
    log_density = _scalar(context, builder, result[0], log_density)
    builder.store(log_density, value)
    for place, (slope, shape) in enumerate(zip(slopes, shapes, strict=True)):
        target = builder.gep(gradient, [starts[place]])
        _copy(context, builder, result[place + 1], slope, target, shape)
    context.nrt.decref(builder, result, found)
    # The difference of an infinite number and itself is not a number either.
    difference = builder.fsub(log_density, log_density)
    finite = builder.fcmp_ordered("ord", difference, difference)
    builder.ret(builder.select(finite, _CODE(_DONE), _CODE(_REFUSED)))


def _add_identity(module: Any, name: str) -> None:
    """Add ``int identity(size, size, point, out, addresses)``: of a draw nutpie keeps the point."""
    builder, arguments = _function(module, name, [_WORD, _WORD, _NUMBERS, _NUMBERS, _ADDRESSES])
    size, _, point, out, _ = arguments
    cgutils.raw_memcpy(builder, out, point, size, 8)
    builder.ret(_CODE(_DONE))


def _function(module: Any, name: str, arguments: list[Any]) -> tuple[Any, Any]:
    function = ir.Function(module, ir.FunctionType(_CODE, arguments), name)
    return ir.IRBuilder(function.append_basic_block()), function.args


def _native(context: Any, builder: Any, compiled: Any) -> Any:
    """The function as Numba's own compiled code calls it."""
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    signature = compiled.signature
    kind = context.call_conv.get_function_type(signature.return_type, signature.args)
    return builder.inttoptr(_WORD(address), kind.as_pointer())


def _array(context: Any, builder: Any, kind: Any, address: Any, shape: tuple[int, ...]) -> Any:
    """Numba's record of an array in C order."""
    itemsize = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides = [itemsize * int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    array = context.make_array(kind)(context, builder)
    populate_array(
        array,
        data=builder.bitcast(address, array.data.type),
        shape=[_WORD(length) for length in shape],
        strides=[_WORD(stride) for stride in strides],
        itemsize=_WORD(itemsize),
        meminfo=None,
    )
    return array._getvalue()


def _scalar(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Value of a number, or of an array without dimensions."""
    if kind == types.float64:
        return value
    if kind.dtype != types.float64 or kind.ndim != 0:
        raise TypeError(kind)
    return builder.load(context.make_array(kind)(context, builder, value).data)


def _copy(
    context: Any, builder: Any, kind: Any, value: Any, target: Any, shape: tuple[int, ...]
) -> None:
    """Copy a number or an array, whatever its layout, to where one in C order is wanted."""
    if not shape:
        builder.store(_scalar(context, builder, kind, value), target)
        return
    if kind.dtype != types.float64 or kind.ndim != len(shape):
        raise TypeError(kind)
    array = context.make_array(kind)(context, builder, value)
    lengths = [_WORD(length) for length in shape]
    with cgutils.loop_nest(builder, lengths, _WORD) as indices:
        source = cgutils.get_item_pointer(context, builder, kind, array, indices)
        place = _WORD(0)
        for length, index in zip(lengths, indices, strict=True):
            place = builder.add(builder.mul(place, length), index)
        builder.store(builder.load(source), builder.gep(target, [place]))


@dataclass(frozen=True)
class _Model(CompiledModel):  # type: ignore[misc]  # nutpie has no types
    density: NativeDensity
    data: tuple[NDArray[Any], ...]
    start: Callable[[int], NDArray[np.float64]]

    @property
    def n_dim(self) -> int:
        return self.density.size

    def _make_sampler(self, settings: Any, mean: Any, cores: int, *rest: Any) -> Any:
        addresses = np.array([array.ctypes.data for array in self.data], dtype=np.uintp)
        where = addresses.ctypes.data
        # Held by nutpie for as long as it samples.
        held = (self, addresses)
        lengths: dict[str, int] = {}
        size = self.density.size
        variables = _lib.PyVariable.new_variables(["point"], ["float64"], [(size,)], lengths, {})
        model = _lib.PyMcModel(
            _lib.LogpFunc(self.density.density, where, held),
            _lib.ExpandFunc(size, size, self.density.identity, where, held),
            variables,
            size,
            lengths,
            {},
            self.start,
            None,
        )
        return _lib.PySampler.from_pymc(settings, cores, model, *rest)
