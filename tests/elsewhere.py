"""A device that is not the processor, on a machine that has no other.

`device()` lets `NAME` stand for a device: its tensors say that they are there, compute on the
processor, and may not meet the processor's, as on a graphics card. What a machine with one
would refuse is refused: a tensor made without a device, a generator of another device, a
tensor read as numbers of numpy without `.cpu()`. A single number may come from the processor,
as it may there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

NAME = "meta"
"""A name that torch knows on every machine, and asks no driver for."""
HERE, PLAIN = torch.device("cpu"), torch.Generator
PRODUCTS = (torch.matmul, Tensor.matmul, Tensor.__matmul__)
KNOWN: dict[int, PLAIN] = {}
"""Generators there by the address of what they hold; kept, so that no other gets it."""
ATEN = torch.ops.aten
WAITS = {
    ATEN._local_scalar_dense.default: "number", ATEN.is_nonzero.default: "number",
    ATEN.equal.default: "number", ATEN.nonzero.default: "size", ATEN._unique2.default: "size",
    ATEN.masked_select.default: "size",
}  # fmt: skip
"""Operations whose result the processor must know, so that it waits for the card: `.item()`,
`float()` and `bool()` read a number; others have a result whose size depends on values."""
READS: list[str] = []
"""What has been read from there since it was last emptied: "number", "size" or "tensor"."""


class Generator(torch.Generator):
    """One that says it is there, and draws the processor's numbers."""

    @property
    def device(self) -> torch.device:
        return torch.device(NAME)


class Maker(torch.Generator):
    """Makes a generator of either device."""

    def __new__(cls, device: Any = "cpu") -> Any:
        if torch.device(device).type != NAME:
            return PLAIN(device)
        made = Generator()
        KNOWN[made._cdata] = made  # operations are handed another object of the same address
        return made


class There(Tensor):
    """A tensor there: `held` has its numbers."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> "There":
        made = Tensor._make_wrapper_subclass(
            cls, held.shape, strides=held.stride(), storage_offset=held.storage_offset(),
            dtype=held.dtype, device=NAME,
        )  # fmt: skip
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return compute(op, args, kwargs or {})

    def tolist(self) -> Any:
        """Plain numbers, which torch reads past `__torch_dispatch__`."""
        READS.append("tensor")
        return self.held.tolist()


class Numbers(TorchFunctionMode):
    """Brings there what is made from numbers, which torch writes past `__torch_dispatch__`."""

    def __torch_function__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        reported = dict(kwargs or {})
        if call in (torch.tensor, torch.as_tensor) and str(reported.get("device")) == NAME:
            return call(*args, **{**reported, "device": HERE}).to(NAME)
        if call is Tensor.new_tensor and isinstance(args[0], There):
            return torch.tensor(args[1], **{"dtype": args[0].dtype, **reported}).to(NAME)
        if call is Tensor.__getitem__ and isinstance(args[1], list):
            return call(args[0], torch.tensor(args[1]))
        if call in PRODUCTS and isinstance(args[0], There) and args[0].dim() == 1 < args[1].dim():
            return (args[0][None] @ args[1])[0]  # torch does so itself, but shrinks in place
        return call(*args, **reported)


class Elsewhere(TorchDispatchMode):
    """Catches what is made there from nothing."""

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return compute(op, args, kwargs or {})


def compute(op: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """One operation: checked, done on the processor, and its result put where it belongs."""
    given = tree_flatten((args, kwargs))[0]
    tensors = [one for one in given if isinstance(one, Tensor)]
    there = any(isinstance(one, There) for one in tensors)
    asked = kwargs.get("device")
    moves = op is ATEN._to_copy.default
    target = torch.device(asked).type if asked is not None else NAME if there else "cpu"
    if there:
        note(op, args, target)
    if there and not moves:
        check(op, tensors)
    if "device" in kwargs:
        kwargs = {**kwargs, "device": HERE}
    drawn = [one for one in given if isinstance(one, PLAIN)]
    if any((one._cdata in KNOWN) != (target == NAME) for one in drawn):
        raise RuntimeError(f"{op}: expected a generator of the device of its tensors")
    plain = tree_map(lambda one: one.held if isinstance(one, There) else one, (args, kwargs))
    actual = op(*plain[0], **plain[1])
    own = {id(one.held): one for one in tensors if isinstance(one, There)}
    return tree_map(lambda one: _placed(one, own, target), actual)


def note(op: Any, args: Any, target: str) -> None:
    """Notes an operation for which the processor waits for the card."""
    index = op in (ATEN.index.Tensor, ATEN.index_put_.default)
    if op in WAITS:
        READS.append(WAITS[op])
    elif op is ATEN._to_copy.default and target == "cpu":
        READS.append("tensor")
    elif index and any(isinstance(i, There) and i.dtype == torch.bool for i in args[1]):
        READS.append("size")


def check(op: Any, tensors: list[Tensor]) -> None:
    """Raises where a tensor there meets one of the processor that is more than a number."""
    strange = [one for one in tensors if not isinstance(one, There) and one.dim() > 0]
    index = op in (ATEN.index.Tensor, ATEN.index_put_.default)
    if strange and not (op is ATEN.copy_.default or index):
        shapes = [tuple(one.shape) for one in strange]
        raise RuntimeError(f"{op}: expected all tensors on one device, got {shapes} on the cpu")


def _placed(one: Any, own: dict[int, There], target: str) -> Any:
    """A result: the tensor that was changed in place, or a new one where it belongs."""
    if not isinstance(one, Tensor) or target != NAME:
        return one
    same = own.get(id(one))  # a change of shape in place cannot reach the old object
    return same if same is not None and same.shape == one.shape else There(one)


@contextmanager
def device(patch: pytest.MonkeyPatch) -> Iterator[str]:
    """The device's name, for as long as it is there."""
    patch.setattr(torch, "Generator", Maker)
    with Numbers(), Elsewhere():
        yield NAME
