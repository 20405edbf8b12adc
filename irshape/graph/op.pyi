"""Written by tests/graph/make_stub.py from the declarations of the operations."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from ..element_types import ElementType
from ..shapes import ShapeLike
from .control_flow import Carried, Iteration, RepeatWhile, Sliced, Stacked
from .nodes import GraphLayer, Output

Operand = Output | GraphLayer | npt.ArrayLike | Sequence[Output | int]
"""What feeds an input: an output, or an array or numbers, which become a constant."""

Opset = str | int

ElementTypeName = Literal[
    "f64",
    "f32",
    "f16",
    "bf16",
    "f8e4m3",
    "f8e5m2",
    "f8e8m0",
    "f4e2m1",
    "nf4",
    "i64",
    "i32",
    "i16",
    "i8",
    "i4",
    "u64",
    "u32",
    "u16",
    "u8",
    "u6",
    "u4",
    "u3",
    "u2",
    "u1",
    "boolean",
    "string",
    "dynamic"
]

class Operations:
    """The operations as functions."""

    def __init__(self, graph: Any = None) -> None: ...
    def parameter(
        self,
        element_type: ElementTypeName | ElementType,
        shape: ShapeLike,
        *,
        name: str | None = None,
    ) -> Output:
        """Adds an input to the graph; see `Graph.parameter`."""

    def constant(
        self,
        value: npt.ArrayLike,
        element_type: ElementTypeName | ElementType | None = None,
        *,
        name: str | None = None,
    ) -> Output:
        """Adds a constant; see `Graph.constant`."""

    def result(self, value: Output | GraphLayer, name: str | None = None) -> GraphLayer:
        """Adds an output to the graph; see `Graph.result`."""

    @staticmethod
    def sliced(
        value: Operand,
        axis: int = 0,
        *,
        start: int = 0,
        end: int = -1,
        stride: int = 1,
        part_size: int = 1,
    ) -> Sliced:
        """Returns an input of a Loop or TensorIterator that is split among the iterations."""

    @staticmethod
    def carried(value: Operand) -> Carried:
        """Returns an input of a Loop or TensorIterator with the initial value of a state."""

    @staticmethod
    def iteration() -> Iteration:
        """Returns an input of a Loop's body: the number of the iteration."""

    @staticmethod
    def stacked(
        value: Operand,
        axis: int = 0,
        *,
        start: int = 0,
        end: int = -1,
        stride: int = 1,
        part_size: int = 1,
    ) -> Stacked:
        """Returns a value for a body to return. The layer joins its values of all iterations."""

    @staticmethod
    def repeat_while(condition: Operand) -> RepeatWhile:
        """Returns a value for a Loop's body to return: the condition for another iteration."""

    def abs(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Absolute value.
        Specification: Abs-1.

        data: an input.
        """

    def acos(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Inverse cosine.
        Specification: Acos-1.

        data: an input.
        """

    def acosh(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Inverse hyperbolic cosine. Specification: Acosh-3.

        data: an input.
        """

    def adaptive_avg_pool(
        self,
        data: Operand,
        output_shape: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The mean of each window.
        Specification: AdaptiveAvgPool-8.

        data: rank 3 or 4 or 5.
        output_shape: an input.
        """

    def adaptive_max_pool(
        self,
        data: Operand,
        output_shape: Operand,
        *,
        index_element_type: ElementTypeName | ElementType = "i64",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output]:
        """The largest element of each window, and its index among the elements of its channel.
        Specification: AdaptiveMaxPool-8.

        data: rank 3 or 4 or 5.
        output_shape: an input.
        index_element_type: one of i32, i64.
        """

    def add(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`a + b`; integers wrap around.
        Specification: Add-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def asin(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Inverse sine.
        Specification: Asin-1.

        data: an input.
        """

    def asinh(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Inverse hyperbolic sine. Specification: Asinh-3.

        data: an input.
        """

    @overload
    def assign(
        self,
        new_value: Operand,
        *,
        variable_id: str,
        opset: Literal[6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """Assigns a new value to a variable and returns the value.
        Specification: Assign-6.

        new_value: an input.
        variable_id: a string.
        """

    @overload
    def assign(
        self,
        new_value: Operand,
        *,
        variable_id: str,
        opset: Literal[3, "opset3", 4, "opset4", 5, "opset5"],
        name: str | None = None,
    ) -> Output: ...

    def atan(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Inverse tangent.
        Specification: Atan-1.

        data: an input.
        """

    def atanh(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Inverse hyperbolic tangent. Specification: Atanh-3.

        data: an input.
        """

    @overload
    def avg_pool(
        self,
        data: Operand,
        *,
        strides: Sequence[int],
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        kernel: Sequence[int],
        auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit",
        exclude_pad: bool = True,
        dilations: Sequence[int] | None = None,
        rounding_type: Literal["floor", "ceil", "ceil_torch"] = "floor",
        opset: Literal[16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """The mean of each window. `dilations` set the distance between elements of a window.
        Specification: AvgPool-16.

        data: rank 3 or 4 or 5.
        strides: a list of whole numbers of at least 0.
        pads_begin: a list of whole numbers of at least 0.
        pads_end: a list of whole numbers of at least 0.
        kernel: a list of whole numbers of at least 0.
        auto_pad: one of "explicit", "same_upper", "same_lower", "valid".
        exclude_pad: "true" or "false".
        dilations: a list of whole numbers of at least 0.
        rounding_type: one of "floor", "ceil", "ceil_torch".
        """

    @overload
    def avg_pool(
        self,
        data: Operand,
        *,
        strides: Sequence[int],
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        kernel: Sequence[int],
        auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit",
        exclude_pad: bool = True,
        rounding_type: Literal["floor", "ceil", "ceil_torch"] = "floor",
        opset: Literal[14, "opset14", 15, "opset15"],
        name: str | None = None,
    ) -> Output: ...

    @overload
    def avg_pool(
        self,
        data: Operand,
        *,
        strides: Sequence[int],
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        kernel: Sequence[int],
        rounding_type: Literal["floor", "ceil"] = "floor",
        auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit",
        exclude_pad: bool = True,
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13"],
        name: str | None = None,
    ) -> Output: ...

    @overload
    def batch_norm_inference(
        self,
        data: Operand,
        gamma: Operand,
        beta: Operand,
        mean: Operand,
        variance: Operand,
        *,
        epsilon: float = 0.0,
        opset: Literal[5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """Batch normalization with given mean and variance. `data` is the first input.
        Specification: BatchNormInference-5.

        data: shape [batch,channels,...].
        gamma: shape [channels].
        beta: shape [channels].
        mean: shape [channels].
        variance: shape [channels].
        epsilon: a number, 0 or more.
        """

    @overload
    def batch_norm_inference(
        self,
        gamma: Operand,
        beta: Operand,
        data: Operand,
        mean: Operand,
        variance: Operand,
        *,
        epsilon: float = 0.0,
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3", 4, "opset4"],
        name: str | None = None,
    ) -> Output: ...

    def batch_to_space(
        self,
        data: Operand,
        block_shape: Operand,
        crops_begin: Operand,
        crops_end: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Rearranges elements of the batch into spatial blocks, and crops the result.
        Specification: BatchToSpace-2.

        data: rank 2 or more.
        block_shape: rank 1.
        crops_begin: rank 1.
        crops_end: rank 1.
        """

    def bgr_to_nv12(
        self,
        image: Operand,
        *,
        single_plane: bool = True,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, ...]:
        """Like RGBtoNV12, but blue is the first channel of the image.
        Specification: BGRtoNV12-17.

        image: shape [batch,height,width,3].
        single_plane: "true" or "false".
        """

    def binary_convolution(
        self,
        data: Operand,
        filters: Operand,
        *,
        strides: Sequence[int] | None = None,
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit",
        mode: Literal["xnor-popcount"] = "xnor-popcount",
        pad_value: float = 0.0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Convolution of zeros and ones, where 0 stands for -1.

        Padding is `pad_value` if that is 0 or 1, as in OpenVINO's CPU plugin; otherwise padding
        is -1.
        Specification: BinaryConvolution-1.

        data: rank 4.
        filters: an input.
        strides: a list of whole numbers of at least 0.
        pads_begin: a list of whole numbers of at least 0.
        pads_end: a list of whole numbers of at least 0.
        dilations: a list of whole numbers of at least 0.
        auto_pad: one of "explicit", "same_upper", "same_lower", "valid".
        mode: one of "xnor-popcount".
        pad_value: a number.
        """

    def bitwise_and(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Bits that are set in both inputs.
        Specification: BitwiseAnd-13.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def bitwise_left_shift(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`a` shifted towards the high bits by `b` bits.

        The specification does not define the result if `b` is negative or exceeds the bits of
        `a`. As
        in OpenVINO's kernels, `b` is taken modulo 32, or modulo 64 if `a` has 64 bits.
        Specification: BitwiseLeftShift-15.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def bitwise_not(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Every bit inverted.
        Specification: BitwiseNot-13.

        data: an input.
        """

    def bitwise_or(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Bits that are set in at least one of the two inputs.
        Specification: BitwiseOr-13.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def bitwise_right_shift(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`a` shifted towards the low bits by `b` bits; the sign stays.
        Specification: BitwiseRightShift-15.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def bitwise_xor(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Bits that are set in exactly one of the two inputs.
        Specification: BitwiseXor-13.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    @overload
    def broadcast(
        self,
        data: Operand,
        target_shape: Operand,
        axes_mapping: Operand | None = None,
        *,
        mode: Literal["numpy", "explicit", "none", "bidirectional", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Literal[3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """`data` broadcast to `target_shape`. In mode `bidirectional`, both shapes are broadcast.
        Specification: Broadcast-3.

        data: an input.
        target_shape: rank 1.
        axes_mapping: may be left out.
        mode: one of "numpy", "explicit", "none", "bidirectional", "pdpd".
        axis: a whole number.
        """

    @overload
    def broadcast(
        self,
        data: Operand,
        target_shape: Operand,
        axes_mapping: Operand | None = None,
        *,
        mode: Literal["numpy", "explicit", "none", "pdpd"] = "explicit",
        axis: int = 0,
        opset: Literal[1, "opset1", 2, "opset2"],
        name: str | None = None,
    ) -> Output: ...

    def bucketize(
        self,
        data: Operand,
        buckets: Operand,
        *,
        output_type: ElementTypeName | ElementType,
        with_right_bound: bool = True,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The index of each element's bucket. `buckets` are the boundaries, in ascending order.
        Specification: Bucketize-3.

        data: an input.
        buckets: rank 1.
        output_type: one of i32, i64.
        with_right_bound: "true" or "false".
        """

    def ceiling(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The smallest whole number that is not less than the input.
        Specification: Ceiling-1.

        data: an input.
        """

    def clamp(
        self,
        data: Operand,
        *,
        min: float = 0.0,
        max: float = 0.0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The input clipped to `min` and `max`. For integers, `min` is rounded up and `max` down.
        Specification: Clamp-1.

        data: an input.
        min: a number.
        max: a number.
        """

    def col2im(
        self,
        data: Operand,
        output_size: Operand,
        kernel_size: Operand,
        *,
        strides: Sequence[int] = (1, 1),
        dilations: Sequence[int] = (1, 1),
        pads_begin: Sequence[int] = (0, 0),
        pads_end: Sequence[int] = (0, 0),
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """An image assembled from sliding blocks. Where blocks overlap, their elements are added.
        Specification: Col2Im-15.

        data: rank 2 or 3.
        output_size: rank 1.
        kernel_size: rank 1.
        strides: a list of whole numbers of at least 1.
        dilations: a list of whole numbers of at least 1.
        pads_begin: a list of whole numbers of at least 0.
        pads_end: a list of whole numbers of at least 0.
        """

    def concat(
        self,
        *inputs: Operand,
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The inputs concatenated along `axis`.
        Specification: Concat-1.

        inputs: an input.
        axis: a whole number.
        """

    def convert(
        self,
        data: Operand,
        *,
        destination_type: ElementTypeName | ElementType = "dynamic",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The input in another element type. The module `conversion` states how numbers are rounded.
        Specification: Convert-1.

        data: an input.
        destination_type: the name of an element type, such as f32 or i64.
        """

    def convert_like(
        self,
        data: Operand,
        like: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The input in the element type of `like`.
        Specification: ConvertLike-1.

        data: an input.
        like: an input.
        """

    def convert_promote_types(
        self,
        input_0: Operand,
        input_1: Operand,
        *,
        promote_unsafe: bool = False,
        pytorch_scalar_promotion: bool = False,
        u64_integer_promotion_target: ElementTypeName | ElementType = "f32",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output]:
        """Both inputs, converted to one element type that can hold the values of both.

        If `promote_unsafe` is false, a promotion that could lose digits is an error. With
        `pytorch_scalar_promotion`, a scalar gets the type of the other input if both are
        integers, or
        both reals.
        Specification: ConvertPromoteTypes-14.

        input_0: an input.
        input_1: an input.
        promote_unsafe: "true" or "false".
        pytorch_scalar_promotion: "true" or "false".
        u64_integer_promotion_target: the name of an element type, such as f32 or i64.
        """

    def convolution(
        self,
        data: Operand,
        filters: Operand,
        *,
        strides: Sequence[int] | None = None,
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Cross-correlation of `data` `[N, C, …]` with `filters` `[O, C, …]`.

        There are one, two or three spatial axes.
        Specification: Convolution-1.

        data: rank 3 or 4 or 5.
        filters: an input.
        strides: a list of whole numbers of at least 0.
        pads_begin: a list of whole numbers of at least 0.
        pads_end: a list of whole numbers of at least 0.
        dilations: a list of whole numbers of at least 0.
        auto_pad: one of "explicit", "same_upper", "same_lower", "valid".
        """

    def convolution_backprop_data(
        self,
        data: Operand,
        filters: Operand,
        output_shape: Operand | None = None,
        *,
        strides: Sequence[int] | None = None,
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit",
        output_padding: Sequence[int] | None = None,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Transposed convolution of `data` `[N, C, …]` with `filters` `[C, O, …]`.

        The spatial sizes of the result come from `output_shape` if present, else from the
        attributes.
        Specification: ConvolutionBackpropData-1.

        data: rank 3 or 4 or 5.
        filters: an input.
        output_shape: rank 1, may be left out.
        strides: a list of whole numbers of at least 0.
        pads_begin: a list of whole numbers of at least 0.
        pads_end: a list of whole numbers of at least 0.
        dilations: a list of whole numbers of at least 0.
        auto_pad: one of "explicit", "same_upper", "same_lower", "valid".
        output_padding: a list of whole numbers of at least 0.
        """

    def cos(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Cosine.
        Specification: Cos-1.

        data: an input.
        """

    def cosh(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Hyperbolic cosine.
        Specification: Cosh-1.

        data: an input.
        """

    def ctc_greedy_decoder(
        self,
        data: Operand,
        sequence_mask: Operand,
        *,
        ctc_merge_repeated: bool = True,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Selects the most probable class at each step, and drops blanks.

        `sequence_mask` is 1 within a sequence, and 0 after its end.
        Specification: CTCGreedyDecoder-1.

        data: shape [time,batch,classes].
        sequence_mask: shape [time,batch].
        ctc_merge_repeated: "true" or "false".
        """

    def ctc_greedy_decoder_seq_len(
        self,
        data: Operand,
        sequence_length: Operand,
        blank_index: Operand | None = None,
        *,
        merge_repeated: bool = True,
        classes_index_type: ElementTypeName | ElementType = "i32",
        sequence_length_type: ElementTypeName | ElementType = "i32",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output]:
        """Selects the most probable class at each step, drops blanks, and counts the other classes.
        Specification: CTCGreedyDecoderSeqLen-6.

        data: shape [batch,time,classes].
        sequence_length: shape [batch].
        blank_index: may be left out.
        merge_repeated: "true" or "false".
        classes_index_type: one of i32, i64.
        sequence_length_type: one of i32, i64.
        """

    def ctc_loss(
        self,
        logits: Operand,
        logit_length: Operand,
        labels: Operand,
        label_length: Operand,
        blank_index: Operand | None = None,
        *,
        preprocess_collapse_repeated: bool = False,
        ctc_merge_repeated: bool = True,
        unique: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The negative logarithm of the probability that the logits decode to the labels.
        Specification: CTCLoss-4.

        logits: shape [batch,time,classes].
        logit_length: shape [batch].
        labels: shape [batch,time].
        label_length: shape [batch].
        blank_index: rank 0, may be left out.
        preprocess_collapse_repeated: "true" or "false".
        ctc_merge_repeated: "true" or "false".
        unique: "true" or "false".
        """

    def cum_sum(
        self,
        data: Operand,
        axis: Operand,
        *,
        exclusive: bool = False,
        reverse: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Cumulative sums along an axis.

        `exclusive` leaves each element out of its own sum; `reverse` sums from the end. `axis` is
        optional in the specification, but not in OpenVINO.
        Specification: CumSum-3.

        data: an input.
        axis: an input.
        exclusive: "true" or "false".
        reverse: "true" or "false".
        """

    @overload
    def deformable_convolution(
        self,
        data: Operand,
        offsets: Operand,
        filters: Operand,
        mask: Operand | None = None,
        *,
        strides: Sequence[int] | None = None,
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit",
        group: int,
        deformable_group: int,
        bilinear_interpolation_pad: bool = False,
        opset: Literal[8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """Deformable convolution in which `mask` weights each sampling point.

        With `bilinear_interpolation_pad`, points up to one pixel outside are interpolated with
        zeros.
        Specification: DeformableConvolution-8.

        data: shape [batch,channels,height,width].
        offsets: shape [batch,?,?,?].
        filters: rank 4.
        mask: shape [batch,?,?,?], may be left out.
        strides: a list of whole numbers of at least 0.
        pads_begin: a list of whole numbers of at least 0.
        pads_end: a list of whole numbers of at least 0.
        dilations: a list of whole numbers of at least 0.
        auto_pad: one of "explicit", "same_upper", "same_lower", "valid".
        group: a whole number, 1 or more.
        deformable_group: a whole number, 1 or more.
        bilinear_interpolation_pad: "true" or "false".
        """

    @overload
    def deformable_convolution(
        self,
        data: Operand,
        offsets: Operand,
        filters: Operand,
        *,
        strides: Sequence[int] | None = None,
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit",
        group: int,
        deformable_group: int,
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7"],
        name: str | None = None,
    ) -> Output: ...

    def deformable_psroi_pooling(
        self,
        data: Operand,
        rois: Operand,
        offsets: Operand | None = None,
        *,
        spatial_bins_x: int = 1,
        spatial_bins_y: int = 1,
        output_dim: int,
        spatial_scale: float = 0.0,
        group_size: int = 1,
        mode: str = "bilinear_deformable",
        trans_std: float = 1.0,
        part_size: int = 1,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The average of interpolated samples of each bin of a region, with bins moved by `offsets`.

        Each bin has its own channels. From the first region with batch item -1 on, the result is
        0.
        Specification: DeformablePSROIPooling-1.

        data: rank 4.
        rois: rank 2.
        offsets: rank 4, may be left out.
        spatial_bins_x: a whole number of at least 0.
        spatial_bins_y: a whole number of at least 0.
        output_dim: a whole number, 1 or more.
        spatial_scale: a number.
        group_size: a whole number, 1 or more.
        mode: a string.
        trans_std: a number.
        part_size: a whole number of at least 1.
        """

    def depth_to_space(
        self,
        data: Operand,
        *,
        block_size: int,
        mode: Literal["blocks_first", "depth_first"] = "blocks_first",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Rearranges channels into spatial blocks.
        Specification: DepthToSpace-1.

        data: rank 3 or more.
        block_size: a whole number.
        mode: one of "blocks_first", "depth_first".
        """

    @overload
    def detection_output(
        self,
        box_logits: Operand,
        class_preds: Operand,
        proposals: Operand,
        aux_class_preds: Operand | None = None,
        aux_box_preds: Operand | None = None,
        *,
        background_label_id: int = 0,
        top_k: int = -1,
        variance_encoded_in_target: bool = False,
        keep_top_k: Sequence[int],
        code_type: Literal["caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE"] = "caffe.PriorBoxParameter.CORNER",
        share_location: bool = True,
        nms_threshold: float = 0.0,
        confidence_threshold: float = 0.0,
        clip_after_nms: bool = False,
        clip_before_nms: bool = False,
        decrease_label_id: bool = False,
        normalized: bool = False,
        input_height: int = 1,
        input_width: int = 1,
        objectness_score: float = 0.0,
        opset: Literal[8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """Like DetectionOutput-1, but the inputs determine the number of classes.
        Specification: DetectionOutput-8.

        box_logits: shape [images,coordinates].
        class_preds: rank 2.
        proposals: rank 3.
        aux_class_preds: rank 2, may be left out.
        aux_box_preds: shape [images,coordinates], may be left out.
        background_label_id: a whole number.
        top_k: a whole number.
        variance_encoded_in_target: "true" or "false".
        keep_top_k: a list of whole numbers.
        code_type: one of "caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE".
        share_location: "true" or "false".
        nms_threshold: a number.
        confidence_threshold: a number.
        clip_after_nms: "true" or "false".
        clip_before_nms: "true" or "false".
        decrease_label_id: "true" or "false".
        normalized: "true" or "false".
        input_height: a whole number.
        input_width: a whole number.
        objectness_score: a number.
        num_classes: a whole number, 1 or more (up to opset7).
        """

    @overload
    def detection_output(
        self,
        box_logits: Operand,
        class_preds: Operand,
        proposals: Operand,
        aux_class_preds: Operand | None = None,
        aux_box_preds: Operand | None = None,
        *,
        background_label_id: int = 0,
        top_k: int = -1,
        variance_encoded_in_target: bool = False,
        keep_top_k: Sequence[int],
        code_type: Literal["caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE"] = "caffe.PriorBoxParameter.CORNER",
        share_location: bool = True,
        nms_threshold: float = 0.0,
        confidence_threshold: float = 0.0,
        clip_after_nms: bool = False,
        clip_before_nms: bool = False,
        decrease_label_id: bool = False,
        normalized: bool = False,
        input_height: int = 1,
        input_width: int = 1,
        objectness_score: float = 0.0,
        num_classes: int,
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7"],
        name: str | None = None,
    ) -> Output: ...

    def dft(
        self,
        data: Operand,
        axes: Operand,
        signal_size: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The spectrum of a complex signal: its discrete Fourier transform.
        Specification: DFT-7.

        data: shape [...,?,2].
        axes: rank 1.
        signal_size: rank 1, may be left out.
        """

    def divide(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        m_pythondiv: bool = True,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`a / b`. An integer quotient is rounded down, or towards zero with `m_pythondiv="false"`.
        Specification: Divide-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        m_pythondiv: "true" or "false".
        """

    def einsum(
        self,
        *inputs: Operand,
        equation: str,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Einstein summation: axes with the same label are multiplied elementwise. The result is the
        sum over all labels that the output does not have.
        Specification: Einsum-7.

        inputs: an input.
        equation: a string.
        """

    def elu(
        self,
        data: Operand,
        *,
        alpha: float = 0.0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`alpha * (exp(x) - 1)` where x is negative, else x.
        Specification: Elu-1.

        data: an input.
        alpha: a number.
        """

    def embedding_bag_offsets(
        self,
        emb_table: Operand,
        indices: Operand,
        offsets: Operand,
        default_index: Operand | None = None,
        per_sample_weights: Operand | None = None,
        *,
        reduction: Literal["sum", "mean"] = "sum",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Like EmbeddingBagOffsetsSum, but computes sums or means.
        Specification: EmbeddingBagOffsets-15.

        emb_table: rank 1 or more.
        indices: shape [indices].
        offsets: shape [bags].
        default_index: rank 0, may be left out.
        per_sample_weights: shape [indices], may be left out.
        reduction: one of "sum", "mean".
        """

    def embedding_bag_offsets_sum(
        self,
        emb_table: Operand,
        indices: Operand,
        offsets: Operand,
        default_index: Operand | None = None,
        per_sample_weights: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Sums the table rows of each bag. `offsets` are positions in `indices` where bags begin.
        Specification: EmbeddingBagOffsetsSum-3.

        emb_table: rank 1 or more.
        indices: shape [indices].
        offsets: shape [bags].
        default_index: rank 0, may be left out.
        per_sample_weights: shape [indices], may be left out.
        """

    def embedding_bag_packed(
        self,
        emb_table: Operand,
        indices: Operand,
        per_sample_weights: Operand | None = None,
        *,
        reduction: Literal["sum", "mean"] = "sum",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Like EmbeddingBagPackedSum, but computes sums or means.
        Specification: EmbeddingBagPacked-15.

        emb_table: rank 1 or more.
        indices: shape [bags,indices].
        per_sample_weights: shape [bags,indices], may be left out.
        reduction: one of "sum", "mean".
        """

    def embedding_bag_packed_sum(
        self,
        emb_table: Operand,
        indices: Operand,
        per_sample_weights: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Sums the table rows of each bag. Each bag is a row of `indices`.
        Specification: EmbeddingBagPackedSum-3.

        emb_table: rank 1 or more.
        indices: shape [bags,indices].
        per_sample_weights: shape [bags,indices], may be left out.
        """

    def embedding_segments_sum(
        self,
        emb_table: Operand,
        indices: Operand,
        segment_ids: Operand,
        num_segments: Operand,
        default_index: Operand | None = None,
        per_sample_weights: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Sums the table rows whose indices belong to the same segment.
        Specification: EmbeddingSegmentsSum-3.

        emb_table: rank 1 or more.
        indices: shape [indices].
        segment_ids: shape [indices].
        num_segments: rank 0.
        default_index: rank 0, may be left out.
        per_sample_weights: shape [indices], may be left out.
        """

    def equal(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether the two inputs are equal.
        Specification: Equal-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def erf(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Gauss error function.
        Specification: Erf-1.

        data: an input.
        """

    def erfinv(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The inverse of the error function. It is infinite at -1 and 1, and NaN outside this range.
        Specification: ErfInv-17.

        data: an input.
        """

    def exp(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """e to the power of the input.
        Specification: Exp-1.

        data: an input.
        """

    def experimental_detectron_detection_output(
        self,
        input_rois: Operand,
        input_deltas: Operand,
        input_scores: Operand,
        input_im_info: Operand,
        *,
        score_threshold: float = 0.0,
        nms_threshold: float = 0.0,
        max_delta_log_wh: float = 0.0,
        num_classes: int = 0,
        post_nms_count: int = 0,
        max_detections_per_image: int = 0,
        class_agnostic_box_regression: bool = False,
        deltas_weights: Sequence[float] = (),
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output, Output]:
        """Moves regions by deltas. Returns boxes, classes and scores of the best detections.

        There are `max_detections_per_image` rows; unused rows are 0. Class 0 is the background.
        Specification: ExperimentalDetectronDetectionOutput-6.

        input_rois: shape [regions,4].
        input_deltas: rank 2.
        input_scores: rank 2.
        input_im_info: shape [1,3].
        score_threshold: a number.
        nms_threshold: a number.
        max_delta_log_wh: a number.
        num_classes: a whole number.
        post_nms_count: a whole number.
        max_detections_per_image: a whole number.
        class_agnostic_box_regression: "true" or "false".
        deltas_weights: a list of numbers.
        """

    def experimental_detectron_generate_proposals_single_image(
        self,
        input_im_info: Operand,
        input_anchors: Operand,
        input_deltas: Operand,
        input_scores: Operand,
        *,
        min_size: float = 0.0,
        nms_threshold: float = 0.0,
        pre_nms_count: int = 0,
        post_nms_count: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output]:
        """Moves anchors by deltas. Returns boxes and scores of the best proposals in an image.

        There are `post_nms_count` rows; unused rows are 0.
        Specification: ExperimentalDetectronGenerateProposalsSingleImage-6.

        input_im_info: shape [3].
        input_anchors: shape [?,4].
        input_deltas: shape [?,rows,columns].
        input_scores: shape [anchors,rows,columns].
        min_size: a number.
        nms_threshold: a number.
        pre_nms_count: a whole number.
        post_nms_count: a whole number.
        """

    def experimental_detectron_prior_grid_generator(
        self,
        priors: Operand,
        feature_map: Operand,
        im_data: Operand,
        *,
        flatten: bool = False,
        h: int = 0,
        w: int = 0,
        stride_x: float = 0.0,
        stride_y: float = 0.0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Moves prior boxes to the center of every cell of a grid.

        The result has rows for every cell of the feature map. If the grid has fewer cells, the
        specification does not define the remaining rows; in irshape, they are 0.
        Specification: ExperimentalDetectronPriorGridGenerator-6.

        priors: shape [priors,4].
        feature_map: shape [batch,?,height,width].
        im_data: shape [batch,?,?,?].
        flatten: "true" or "false".
        h: a whole number.
        w: a whole number.
        stride_x: a number.
        stride_y: a number.
        """

    def experimental_detectron_roi_feature_extractor(
        self,
        input_rois: Operand,
        *input_pyramid: Operand,
        output_size: int = 0,
        sampling_ratio: int = 0,
        pyramid_scales: Sequence[int] = (),
        aligned: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output]:
        """Divides each region into bins. Returns the average features of the bins, and the regions.

        A region's area selects a feature map of the pyramid. For the area 0, the features are 0.
        Specification: ExperimentalDetectronROIFeatureExtractor-6.

        input_rois: shape [regions,4].
        input_pyramid: rank 4.
        output_size: a whole number.
        sampling_ratio: a whole number.
        pyramid_scales: a list of whole numbers.
        aligned: "true" or "false".
        """

    def experimental_detectron_topk_rois(
        self,
        input_rois: Operand,
        rois_probs: Operand,
        *,
        max_rois: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Selects the `max_rois` most probable regions. Unused rows are undefined (0 in irshape).
        Specification: ExperimentalDetectronTopKROIs-6.

        input_rois: shape [regions,4].
        rois_probs: shape [regions].
        max_rois: a whole number.
        """

    def extract_image_patches(
        self,
        data: Operand,
        *,
        sizes: Sequence[int] = (),
        strides: Sequence[int] = (),
        rates: Sequence[int] = (),
        auto_pad: Literal["valid", "same_upper", "same_lower"],
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Patches of an image, with the elements of each patch as channels.
        Specification: ExtractImagePatches-3.

        data: rank 4.
        sizes: a list of whole numbers of at least 1.
        strides: a list of whole numbers of at least 1.
        rates: a list of whole numbers of at least 1.
        auto_pad: one of "valid", "same_upper", "same_lower".
        """

    def eye(
        self,
        num_rows: Operand,
        num_columns: Operand,
        diagonal_index: Operand,
        batch_shape: Operand | None = None,
        *,
        output_type: ElementTypeName | ElementType = "dynamic",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Matrices with ones on a diagonal and zeros elsewhere.
        Specification: Eye-9.

        num_rows: an input.
        num_columns: an input.
        diagonal_index: an input.
        batch_shape: rank 1, may be left out.
        output_type: the name of an element type, such as f32 or i64.
        """

    def fake_convert(
        self,
        data: Operand,
        scale: Operand,
        shift: Operand | None = None,
        *,
        destination_type: ElementTypeName | ElementType = "f8e4m3",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`data · scale - shift`, clipped to the range of an 8-bit floating-point type, then
        converted
        to this type and back.
        Specification: FakeConvert-13.

        data: an input.
        scale: an input.
        shift: may be left out.
        destination_type: one of f8e4m3, f8e5m2.
        """

    def fake_quantize(
        self,
        data: Operand,
        input_low: Operand,
        input_high: Operand,
        output_low: Operand,
        output_high: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        levels: int = 2,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`data` clipped to the range from `input_low` to `input_high`, rounded to one of `levels`
        equally spaced values, and mapped to the range from `output_low` to `output_high`.
        Specification: FakeQuantize-1.

        data: an input.
        input_low: an input.
        input_high: an input.
        output_low: an input.
        output_high: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        levels: a whole number of at least 2.
        """

    def floor(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The largest whole number that is not greater than the input.
        Specification: Floor-1.

        data: an input.
        """

    def floor_mod(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The remainder of `a / b` with the quotient rounded down. It has the sign of `b`.
        Specification: FloorMod-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    @overload
    def gather(
        self,
        data: Operand,
        indices: Operand,
        axis: Operand,
        *,
        batch_dims: int = 0,
        opset: Literal[8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """Slices of `data` along `axis` at `indices`. The first `batch_dims` axes are batches.

        Negative indices count from the end. Indices out of range select zeros.
        Specification: Gather-8.

        data: an input.
        indices: an input.
        axis: an input.
        batch_dims: a whole number.
        """

    @overload
    def gather(
        self,
        data: Operand,
        indices: Operand,
        axis: Operand,
        *,
        batch_dims: int = 0,
        opset: Literal[7, "opset7"],
        name: str | None = None,
    ) -> Output: ...

    @overload
    def gather(
        self,
        data: Operand,
        indices: Operand,
        axis: Operand,
        *,
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6"],
        name: str | None = None,
    ) -> Output: ...

    def gather_elements(
        self,
        data: Operand,
        indices: Operand,
        *,
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """For a matrix, `data[indices[i, j], j]` or, along axis 1, `data[i, indices[i, j]]`.
        Specification: GatherElements-6.

        data: rank 1 or more.
        indices: rank 1 or more.
        axis: a whole number.
        """

    @overload
    def gather_nd(
        self,
        data: Operand,
        indices: Operand,
        *,
        batch_dims: int = 0,
        opset: Literal[8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """Slices of `data` at the tuples along the last axis of `indices`.
        Specification: GatherND-8.

        data: rank 1 or more.
        indices: rank 1 or more.
        batch_dims: a whole number.
        """

    @overload
    def gather_nd(
        self,
        data: Operand,
        indices: Operand,
        *,
        batch_dims: int = 0,
        opset: Literal[5, "opset5", 6, "opset6", 7, "opset7"],
        name: str | None = None,
    ) -> Output: ...

    def gather_tree(
        self,
        step_ids: Operand,
        parent_ids: Operand,
        max_seq_len: Operand,
        end_token: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The sequences of a beam search, each followed backwards from parent to parent.
        Specification: GatherTree-1.

        step_ids: an input.
        parent_ids: an input.
        max_seq_len: rank 1.
        end_token: rank 0.
        """

    @overload
    def gelu(
        self,
        data: Operand,
        *,
        approximation_mode: Literal["ERF", "TANH"] = "ERF",
        opset: Literal[7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """`x * Φ(x)`, computed with the error function, or approximately with tanh.
        Specification: Gelu-7.

        data: an input.
        approximation_mode: one of "ERF", "TANH".
        """

    @overload
    def gelu(
        self,
        data: Operand,
        *,
        opset: Literal[2, "opset2", 3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6"],
        name: str | None = None,
    ) -> Output: ...

    def generate_proposals(
        self,
        im_info: Operand,
        anchors: Operand,
        boxesdeltas: Operand,
        scores: Operand,
        *,
        min_size: float = 0.0,
        nms_threshold: float = 0.0,
        pre_nms_count: int,
        post_nms_count: int,
        normalized: bool = True,
        nms_eta: float = 1.0,
        roi_num_type: ElementTypeName | ElementType = "i64",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output, Output]:
        """Moves anchors by deltas. Returns the best boxes of all images, their scores and counts.
        Specification: GenerateProposals-9.

        im_info: shape [images,?].
        anchors: shape [?,?,?,4].
        boxesdeltas: shape [images,?,rows,columns].
        scores: shape [images,anchors,rows,columns].
        min_size: a number.
        nms_threshold: a number.
        pre_nms_count: a whole number, 1 or more.
        post_nms_count: a whole number, 1 or more.
        normalized: "true" or "false".
        nms_eta: a number, 1.
        roi_num_type: one of i32, i64.
        """

    def greater(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether `a` is greater than `b`.
        Specification: Greater-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def greater_equal(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether `a` is greater than or equal to `b`.
        Specification: GreaterEqual-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def grid_sample(
        self,
        data: Operand,
        grid: Operand,
        *,
        align_corners: bool = False,
        mode: Literal["bilinear", "bicubic", "nearest"] = "bilinear",
        padding_mode: Literal["zeros", "border", "reflection"] = "zeros",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Samples an NCHW image at the points in `grid`, where -1 and 1 are borders of the image.
        Specification: GridSample-9.

        data: shape [batch,channels,height,width].
        grid: shape [batch,?,?,2].
        align_corners: "true" or "false".
        mode: one of "bilinear", "bicubic", "nearest".
        padding_mode: one of "zeros", "border", "reflection".
        """

    def grn(
        self,
        data: Operand,
        *,
        bias: float = 1.0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`data / sqrt(s + bias)`, where `s` is the sum of squares over the channels (axis 1).
        Specification: GRN-1.

        data: rank 2 or 3 or 4.
        bias: a number.
        """

    def group_convolution(
        self,
        data: Operand,
        filters: Operand,
        *,
        strides: Sequence[int] | None = None,
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Convolution of groups of channels, each group with its own `filters` `[groups, O, C, …]`.
        Specification: GroupConvolution-1.

        data: rank 3 or 4 or 5.
        filters: an input.
        strides: a list of whole numbers of at least 0.
        pads_begin: a list of whole numbers of at least 0.
        pads_end: a list of whole numbers of at least 0.
        dilations: a list of whole numbers of at least 0.
        auto_pad: one of "explicit", "same_upper", "same_lower", "valid".
        """

    def group_convolution_backprop_data(
        self,
        data: Operand,
        filters: Operand,
        output_shape: Operand | None = None,
        *,
        strides: Sequence[int] | None = None,
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit",
        output_padding: Sequence[int] | None = None,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Transposed convolution of groups of channels, each group with its own `filters`.

        `filters` have the shape `[groups, C, O, …]`.
        Specification: GroupConvolutionBackpropData-1.

        data: rank 3 or 4 or 5.
        filters: an input.
        output_shape: rank 1, may be left out.
        strides: a list of whole numbers of at least 0.
        pads_begin: a list of whole numbers of at least 0.
        pads_end: a list of whole numbers of at least 0.
        dilations: a list of whole numbers of at least 0.
        auto_pad: one of "explicit", "same_upper", "same_lower", "valid".
        output_padding: a list of whole numbers of at least 0.
        """

    def group_normalization(
        self,
        data: Operand,
        scale: Operand,
        bias: Operand,
        *,
        num_groups: int = 0,
        epsilon: float = 0.0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Standardizes `num_groups` groups of channels in each sample, then multiplies each channel
        by
        its `scale` and adds its `bias`.
        Specification: GroupNormalization-12.

        data: shape [batch,channels,...].
        scale: shape [channels].
        bias: shape [channels].
        num_groups: a whole number, 1 or more.
        epsilon: a number.
        """

    def grouped_matmul(
        self,
        mat_a: Operand,
        mat_b: Operand,
        offsets: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """A matrix product for each group of `mat_a` `[G,M,K]` and `mat_b` `[G,N,K]`.

        The result for group `g` is `mat_a[g]` times the transpose of `mat_b[g]`. If `mat_a` is a
        single
        matrix `[T,K]`, `offsets` are the positions after the last row of each group.
        Specification: GroupedMatMul-17.

        mat_a: an input.
        mat_b: an input.
        offsets: may be left out.
        """

    def gru_cell(
        self,
        X: Operand,
        initial_hidden_state: Operand,
        W: Operand,
        R: Operand,
        B: Operand,
        *,
        hidden_size: int = 0,
        activations_alpha: Sequence[float] = (),
        activations_beta: Sequence[float] = (),
        clip: float = 0.0,
        activations: Sequence[str] = ('sigmoid', 'tanh'),
        linear_before_reset: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """One step of a gated recurrent unit (GRU).
        Specification: GRUCell-3.

        X: shape [batch,input_size].
        initial_hidden_state: shape [batch,hidden_size].
        W: rank 2.
        R: shape [?,hidden_size].
        B: rank 1.
        hidden_size: a whole number of at least 0.
        activations_alpha: a list of numbers.
        activations_beta: a list of numbers.
        clip: a number.
        activations: a list of strings.
        linear_before_reset: "true" or "false".
        """

    def gru_sequence(
        self,
        X: Operand,
        initial_hidden_state: Operand,
        sequence_lengths: Operand,
        W: Operand,
        R: Operand,
        B: Operand,
        *,
        hidden_size: int = 0,
        activations_alpha: Sequence[float] = (),
        activations_beta: Sequence[float] = (),
        clip: float = 0.0,
        direction: Literal["forward", "reverse", "bidirectional"] = "forward",
        activations: Sequence[str] = ('sigmoid', 'tanh'),
        linear_before_reset: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output]:
        """A gated recurrent unit (GRU) applied along time.
        Specification: GRUSequence-5.

        X: shape [batch,time,input_size].
        initial_hidden_state: shape [batch,?,hidden_size].
        sequence_lengths: shape [batch].
        W: rank 3.
        R: shape [?,?,hidden_size].
        B: rank 2.
        hidden_size: a whole number of at least 0.
        activations_alpha: a list of numbers.
        activations_beta: a list of numbers.
        clip: a number.
        direction: one of "forward", "reverse", "bidirectional".
        activations: a list of strings.
        linear_before_reset: "true" or "false".
        """

    def hard_sigmoid(
        self,
        data: Operand,
        alpha: Operand,
        beta: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`alpha * x + beta`, clipped to the range from 0 to 1.
        Specification: HardSigmoid-1.

        data: an input.
        alpha: an input.
        beta: an input.
        """

    def hsigmoid(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`min(max(x + 3, 0), 6) / 6`.
        Specification: HSigmoid-5.

        data: an input.
        """

    def hswish(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`x * min(max(x + 3, 0), 6) / 6`.
        Specification: HSwish-4.

        data: an input.
        """

    def i420_to_bgr(
        self,
        y: Operand,
        u: Operand | None = None,
        v: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Like I420toRGB, but blue is the first channel.
        Specification: I420toBGR-8.

        y: shape [batch,height,width,1].
        u: shape [batch,chroma_height,chroma_width,1], may be left out.
        v: shape [batch,chroma_height,chroma_width,1], may be left out.
        """

    def i420_to_rgb(
        self,
        y: Operand,
        u: Operand | None = None,
        v: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """An RGB image from I420: a plane of luma, and two planes of chroma.
        Specification: I420toRGB-8.

        y: shape [batch,height,width,1].
        u: shape [batch,chroma_height,chroma_width,1], may be left out.
        v: shape [batch,chroma_height,chroma_width,1], may be left out.
        """

    def identity(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The input, unchanged.
        Specification: Identity-16.

        data: an input.
        """

    def idft(
        self,
        data: Operand,
        axes: Operand,
        signal_size: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The complex signal that has a given spectrum: the inverse of DFT.
        Specification: IDFT-7.

        data: shape [...,?,2].
        axes: rank 1.
        signal_size: rank 1, may be left out.
        """

    def if_(
        self,
        condition: Operand | Sliced | Carried | Iteration,
        *inputs: Operand | Sliced | Carried | Iteration,
        then_body: Callable[..., Any],
        else_body: Callable[..., Any],
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Any:
        """Runs one of two bodies, as `condition` selects, and returns its results.
        Specification: If-8.

        condition: rank 0 or 1.
        inputs: may be left out.
        """

    @overload
    def interpolate(
        self,
        image: Operand,
        scales_or_sizes: Operand,
        axes: Operand | None = None,
        *,
        shape_calculation_mode: Literal["sizes", "scales"] = "sizes",
        coordinate_transformation_mode: Literal["half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"] = "half_pixel",
        nearest_mode: Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"] = "round_prefer_floor",
        antialias: bool = False,
        pads_begin: Sequence[int] = (),
        pads_end: Sequence[int] = (),
        cube_coeff: float = -0.75,
        mode: Literal["nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow"] = "nearest",
        opset: Literal[11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """Like Interpolate-4, but with one input for sizes or scales, and with the modes of Pillow.
        Specification: Interpolate-11.

        image: an input.
        scales_or_sizes: rank 1.
        axes: rank 1, may be left out.
        shape_calculation_mode: one of "sizes", "scales".
        coordinate_transformation_mode: one of "half_pixel", "pytorch_half_pixel", "asymmetric",
        "tf_half_pixel_for_nn", "align_corners".
        nearest_mode: one of "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple".
        antialias: "true" or "false".
        pads_begin: a list of whole numbers of at least 0.
        pads_end: a list of whole numbers of at least 0.
        cube_coeff: a number.
        mode: one of "nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow",
        "bicubic_pillow".
        axes: a list of whole numbers of at least 0 (up to opset3).
        align_corners: "true" or "false" (up to opset3).
        """

    @overload
    def interpolate(
        self,
        image: Operand,
        sizes: Operand,
        scales: Operand,
        axes: Operand | None = None,
        *,
        mode: Literal["nearest", "linear", "linear_onnx", "cubic"] = "nearest",
        shape_calculation_mode: Literal["sizes", "scales"] = "sizes",
        coordinate_transformation_mode: Literal["half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"] = "half_pixel",
        nearest_mode: Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"] = "round_prefer_floor",
        antialias: bool = False,
        pads_begin: Sequence[int] = (),
        pads_end: Sequence[int] = (),
        cube_coeff: float = -0.75,
        opset: Literal[4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10"],
        name: str | None = None,
    ) -> Output: ...

    @overload
    def interpolate(
        self,
        image: Operand,
        target_spatial_shape: Operand,
        *,
        axes: Sequence[int] = (),
        mode: str = "",
        align_corners: bool = True,
        antialias: bool = False,
        pads_begin: Sequence[int] = (),
        pads_end: Sequence[int] = (),
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3"],
        name: str | None = None,
    ) -> Output: ...

    def inverse(
        self,
        data: Operand,
        *,
        adjoint: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The inverse of the square matrices in the last two axes; NaN for a singular matrix.

        With `adjoint`, the result is the transposed inverse, as in OpenVINO 2026.4.
        Specification: Inverse-14.

        data: shape [...,rows,columns].
        adjoint: "true" or "false".
        """

    def irdft(
        self,
        data: Operand,
        axes: Operand,
        signal_size: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The real signal that has the given half of a spectrum: the inverse of RDFT.
        Specification: IRDFT-9.

        data: shape [...,?,2].
        axes: rank 1.
        signal_size: rank 1, may be left out.
        """

    def is_finite(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether each element is neither infinite nor NaN.
        Specification: IsFinite-10.

        data: an input.
        """

    def is_inf(
        self,
        data: Operand,
        *,
        detect_negative: bool = True,
        detect_positive: bool = True,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether each element is infinite. The attributes select positive or negative infinity.
        Specification: IsInf-10.

        data: an input.
        detect_negative: "true" or "false".
        detect_positive: "true" or "false".
        """

    def is_nan(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether each element is NaN.
        Specification: IsNaN-10.

        data: an input.
        """

    def istft(
        self,
        data: Operand,
        window: Operand,
        frame_size: Operand,
        frame_step: Operand,
        signal_length: Operand | None = None,
        *,
        center: bool = False,
        normalized: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The real signal whose frames have the given spectra: the inverse of STFT.

        Overlapping frames are added. The sum is divided by the sum of the squared windows.
        Specification: ISTFT-16.

        data: rank 3 or 4.
        window: rank 1.
        frame_size: rank 0.
        frame_step: rank 0.
        signal_length: may be left out.
        center: "true" or "false".
        normalized: "true" or "false".
        """

    def less(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether `a` is less than `b`.
        Specification: Less-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def less_equal(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether `a` is less than or equal to `b`.
        Specification: LessEqual-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def log(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Natural logarithm.
        Specification: Log-1.

        data: an input.
        """

    def log_softmax(
        self,
        data: Operand,
        *,
        axis: int = 1,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Natural logarithm of SoftMax.
        Specification: LogSoftmax-5.

        data: an input.
        axis: a whole number.
        """

    def logical_and(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether both inputs are true.
        Specification: LogicalAnd-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def logical_not(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether the input is false.

        OpenVINO also accepts numbers, for which it returns 0 and 1 in their element type.
        Specification: LogicalNot-1.

        data: an input.
        """

    def logical_or(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether at least one of the two inputs is true.
        Specification: LogicalOr-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def logical_xor(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether exactly one of the two inputs is true.
        Specification: LogicalXor-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def loop(
        self,
        trip_count: Operand | Sliced | Carried | Iteration,
        execution_condition: Operand | Sliced | Carried | Iteration,
        *inputs: Operand | Sliced | Carried | Iteration,
        body: Callable[..., Any],
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Any:
        """Runs a body up to `trip_count` times (-1: no limit), as long as its condition is true.
        Specification: Loop-5.

        trip_count: rank 0 or 1.
        execution_condition: rank 0 or 1.
        inputs: may be left out.
        """

    def lrn(
        self,
        data: Operand,
        axes: Operand,
        *,
        alpha: float = 0.0,
        beta: float = 0.0,
        bias: float = 0.0,
        size: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`data / (bias + alpha / sizeⁿ · s)^beta`, where `s` is the sum of squares over a
        neighbourhood of `size` elements along each of the n `axes`.
        Specification: LRN-1.

        data: an input.
        axes: an input.
        alpha: a number.
        beta: a number.
        bias: a number.
        size: a whole number of at least 1.
        """

    @overload
    def lstm_cell(
        self,
        X: Operand,
        initial_hidden_state: Operand,
        initial_cell_state: Operand,
        W: Operand,
        R: Operand,
        B: Operand,
        *,
        hidden_size: int = 0,
        activations_alpha: Sequence[float] = (),
        activations_beta: Sequence[float] = (),
        clip: float = 0.0,
        activations: Sequence[str] = ('sigmoid', 'tanh', 'tanh'),
        opset: Literal[4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output]:
        """One step of an LSTM: the new hidden state and the new cell state.
        Specification: LSTMCell-4.

        X: shape [batch,input_size].
        initial_hidden_state: shape [batch,hidden_size].
        initial_cell_state: shape [batch,hidden_size].
        W: rank 2.
        R: shape [?,hidden_size].
        B: rank 1.
        hidden_size: a whole number of at least 0.
        activations_alpha: a list of numbers.
        activations_beta: a list of numbers.
        clip: a number.
        activations: a list of strings.
        input_forget: "true" or "false" (up to opset3).
        weights_format: one of "fico", "icof", "ifco", "ifoc", "iofc" (up to opset3).
        """

    @overload
    def lstm_cell(
        self,
        X: Operand,
        initial_hidden_state: Operand,
        initial_cell_state: Operand,
        W: Operand,
        R: Operand,
        B: Operand | None = None,
        P: Operand | None = None,
        *,
        hidden_size: int = 0,
        activations_alpha: Sequence[float] = (),
        activations_beta: Sequence[float] = (),
        clip: float = 0.0,
        activations: Sequence[str] = ('sigmoid', 'tanh', 'tanh'),
        input_forget: bool = False,
        weights_format: Literal["fico", "icof", "ifco", "ifoc", "iofc"] = "ifco",
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3"],
        name: str | None = None,
    ) -> tuple[Output, Output]: ...

    def lstm_sequence(
        self,
        X: Operand,
        initial_hidden_state: Operand,
        initial_cell_state: Operand,
        sequence_lengths: Operand,
        W: Operand,
        R: Operand,
        B: Operand,
        *,
        hidden_size: int = 0,
        activations_alpha: Sequence[float] = (),
        activations_beta: Sequence[float] = (),
        clip: float = 0.0,
        direction: Literal["forward", "reverse", "bidirectional"] = "forward",
        activations: Sequence[str] = ('sigmoid', 'tanh', 'tanh'),
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output, Output]:
        """A long short-term memory (LSTM) applied along time.
        Specification: LSTMSequence-5.

        X: shape [batch,time,input_size].
        initial_hidden_state: shape [batch,?,hidden_size].
        initial_cell_state: shape [batch,?,hidden_size].
        sequence_lengths: shape [batch].
        W: rank 3.
        R: shape [?,?,hidden_size].
        B: rank 2.
        hidden_size: a whole number of at least 0.
        activations_alpha: a list of numbers.
        activations_beta: a list of numbers.
        clip: a number.
        direction: one of "forward", "reverse", "bidirectional".
        activations: a list of strings.
        """

    def matmul(
        self,
        a: Operand,
        b: Operand,
        *,
        transpose_a: bool = False,
        transpose_b: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The product of the matrices in the last two axes of `a` and `b`.

        The other axes are broadcast. A vector is a row on the left and a column on the right.
        Specification: MatMul-1.

        a: an input.
        b: an input.
        transpose_a: "true" or "false".
        transpose_b: "true" or "false".
        """

    def matrix_nms(
        self,
        boxes: Operand,
        scores: Operand,
        *,
        sort_result_type: Literal["classid", "score", "none"] = "none",
        sort_result_across_batch: bool = False,
        output_type: ElementTypeName | ElementType = "i64",
        score_threshold: float = 0.0,
        nms_top_k: int = -1,
        keep_top_k: int = -1,
        background_class: int = -1,
        normalized: bool = True,
        decay_function: Literal["gaussian", "linear"] = "linear",
        gaussian_sigma: float = 2.0,
        post_threshold: float = 0.0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output, Output]:
        """Lowers the score of each box as much as it overlaps with all boxes of higher scores.

        Specification: MatrixNms-8 (MatrixNonMaxSuppression-8).

        boxes: shape [batch,num_boxes,4].
        scores: shape [batch,classes,num_boxes].
        sort_result_type: one of "classid", "score", "none".
        sort_result_across_batch: "true" or "false".
        output_type: one of i32, i64.
        score_threshold: a number.
        nms_top_k: a whole number.
        keep_top_k: a whole number.
        background_class: a whole number.
        normalized: "true" or "false".
        decay_function: one of "gaussian", "linear".
        gaussian_sigma: a number.
        post_threshold: a number.
        """

    @overload
    def max_pool(
        self,
        data: Operand,
        *,
        strides: Sequence[int],
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        kernel: Sequence[int],
        auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit",
        dilations: Sequence[int] | None = None,
        index_element_type: ElementTypeName | ElementType = "i64",
        axis: int = 0,
        rounding_type: Literal["floor", "ceil", "ceil_torch"] = "floor",
        opset: Literal[14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output]:
        """The largest element of each window and its index. With `ceil_torch`, no window starts in
        the
        padding at the end.
        Specification: MaxPool-14.

        data: rank 3 or 4 or 5.
        strides: a list of whole numbers of at least 0.
        pads_begin: a list of whole numbers of at least 0.
        pads_end: a list of whole numbers of at least 0.
        kernel: a list of whole numbers of at least 0.
        auto_pad: one of "explicit", "same_upper", "same_lower", "valid".
        dilations: a list of whole numbers of at least 0.
        index_element_type: one of i32, i64.
        axis: a whole number.
        rounding_type: one of "floor", "ceil", "ceil_torch".
        """

    @overload
    def max_pool(
        self,
        data: Operand,
        *,
        strides: Sequence[int],
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        kernel: Sequence[int],
        rounding_type: Literal["floor", "ceil"] = "floor",
        auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit",
        dilations: Sequence[int] | None = None,
        index_element_type: ElementTypeName | ElementType = "i64",
        axis: int = 0,
        opset: Literal[8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13"],
        name: str | None = None,
    ) -> tuple[Output, Output]: ...

    @overload
    def max_pool(
        self,
        data: Operand,
        *,
        strides: Sequence[int],
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        kernel: Sequence[int],
        rounding_type: Literal["floor", "ceil"] = "floor",
        auto_pad: Literal["explicit", "same_upper", "same_lower", "valid"] = "explicit",
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7"],
        name: str | None = None,
    ) -> Output: ...

    def maximum(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The larger of the two inputs, element by element.
        Specification: Maximum-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def minimum(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The smaller of the two inputs, element by element.
        Specification: Minimum-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def mish(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`x * tanh(ln(1 + exp(x)))`.
        Specification: Mish-4.

        data: an input.
        """

    def mod(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The remainder of `a / b` with the quotient rounded towards zero. It has the sign of `a`.
        Specification: Mod-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    @overload
    def multiclass_nms(
        self,
        boxes: Operand,
        scores: Operand,
        roisnum: Operand | None = None,
        *,
        sort_result_type: Literal["classid", "score", "none"] = "none",
        sort_result_across_batch: bool = False,
        output_type: ElementTypeName | ElementType = "i64",
        score_threshold: float = 0.0,
        nms_top_k: int = -1,
        keep_top_k: int = -1,
        background_class: int = -1,
        normalized: bool = True,
        iou_threshold: float = 0.0,
        nms_eta: float = 1.0,
        opset: Literal[9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output, Output]:
        """Like MulticlassNms-8, but with an optional input `roisnum`.

        With `roisnum`, every class has its own boxes, and the boxes of all images are
        concatenated.

        Specification: MulticlassNms-9 (MulticlassNonMaxSuppression-9).

        boxes: shape [batch,num_boxes,4].
        scores: rank 2 or 3.
        roisnum: rank 1, may be left out.
        sort_result_type: one of "classid", "score", "none".
        sort_result_across_batch: "true" or "false".
        output_type: one of i32, i64.
        score_threshold: a number.
        nms_top_k: a whole number.
        keep_top_k: a whole number.
        background_class: a whole number.
        normalized: "true" or "false".
        iou_threshold: a number.
        nms_eta: a number, 0 to 1.
        """

    @overload
    def multiclass_nms(
        self,
        boxes: Operand,
        scores: Operand,
        *,
        sort_result_type: Literal["classid", "score", "none"] = "none",
        sort_result_across_batch: bool = False,
        output_type: ElementTypeName | ElementType = "i64",
        score_threshold: float = 0.0,
        nms_top_k: int = -1,
        keep_top_k: int = -1,
        background_class: int = -1,
        normalized: bool = True,
        iou_threshold: float = 0.0,
        nms_eta: float = 1.0,
        opset: Literal[8, "opset8"],
        name: str | None = None,
    ) -> tuple[Output, Output, Output]: ...

    def multinomial(
        self,
        probs: Operand,
        num_samples: Operand,
        *,
        convert_type: ElementTypeName | ElementType = "dynamic",
        with_replacement: bool = False,
        log_probs: bool = False,
        global_seed: int = 0,
        op_seed: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Draws `num_samples` indices of classes in each row, with the probabilities `probs`.
        Specification: Multinomial-13.

        probs: rank 2.
        num_samples: a scalar or one element.
        convert_type: the name of an element type, such as f32 or i64.
        with_replacement: "true" or "false".
        log_probs: "true" or "false".
        global_seed: a whole number of at least 0.
        op_seed: a whole number of at least 0.
        """

    def multiply(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`a * b`; integers wrap around.
        Specification: Multiply-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    @overload
    def mvn(
        self,
        data: Operand,
        axes: Operand,
        *,
        normalize_variance: bool = True,
        eps: float = 1e-06,
        eps_mode: Literal["inside_sqrt", "outside_sqrt"] = "inside_sqrt",
        opset: Literal[6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """Mean-variance normalization along `axes`.
        Specification: MVN-6.

        data: an input.
        axes: an input.
        normalize_variance: "true" or "false".
        eps: a number.
        eps_mode: one of "inside_sqrt", "outside_sqrt".
        across_channels: "true" or "false" (up to opset5).
        reduction_axes: a list of whole numbers of at least 0 (up to opset5).
        """

    @overload
    def mvn(
        self,
        data: Operand,
        *,
        eps: float = 0.0,
        across_channels: bool = False,
        normalize_variance: bool = False,
        reduction_axes: Sequence[int] | None = None,
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3", 4, "opset4", 5, "opset5"],
        name: str | None = None,
    ) -> Output: ...

    def negative(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Value with its sign changed.
        Specification: Negative-1.

        data: an input.
        """

    def nms_rotated(
        self,
        boxes: Operand,
        scores: Operand,
        max_output_boxes_per_class: Operand,
        iou_threshold: Operand,
        score_threshold: Operand,
        *,
        sort_result_descending: bool = True,
        output_type: ElementTypeName | ElementType = "i64",
        clockwise: bool = True,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output, Output]:
        """Drops overlapping boxes, given as [center x, center y, width, height, angle in radians].
        Specification: NMSRotated-13.

        boxes: shape [batch,num_boxes,5].
        scores: shape [batch,classes,num_boxes].
        max_output_boxes_per_class: a scalar or one element.
        iou_threshold: a scalar or one element.
        score_threshold: a scalar or one element.
        sort_result_descending: "true" or "false".
        output_type: one of i32, i64.
        clockwise: "true" or "false".
        """

    @overload
    def non_max_suppression(
        self,
        boxes: Operand,
        scores: Operand,
        max_output_boxes_per_class: Operand | None = None,
        iou_threshold: Operand | None = None,
        score_threshold: Operand | None = None,
        soft_nms_sigma: Operand | None = None,
        *,
        sort_result_descending: bool = True,
        box_encoding: Literal["corner", "center"] = "corner",
        output_type: ElementTypeName | ElementType = "i64",
        opset: Literal[9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output, Output]:
        """Like NonMaxSuppression-5, but `soft_nms_sigma` lowers scores beyond `iou_threshold`, too.

        If `soft_nms_sigma` is above 0, only `score_threshold` drops boxes.
        Specification: NonMaxSuppression-9.

        boxes: shape [batch,num_boxes,4].
        scores: shape [batch,classes,num_boxes].
        max_output_boxes_per_class: a scalar or one element, may be left out.
        iou_threshold: a scalar or one element, may be left out.
        score_threshold: a scalar or one element, may be left out.
        soft_nms_sigma: a scalar or one element, may be left out.
        sort_result_descending: "true" or "false".
        box_encoding: one of "corner", "center".
        output_type: one of i32, i64.
        """

    @overload
    def non_max_suppression(
        self,
        boxes: Operand,
        scores: Operand,
        max_output_boxes_per_class: Operand | None = None,
        iou_threshold: Operand | None = None,
        score_threshold: Operand | None = None,
        soft_nms_sigma: Operand | None = None,
        *,
        sort_result_descending: bool = True,
        box_encoding: Literal["corner", "center"] = "corner",
        output_type: ElementTypeName | ElementType = "i64",
        opset: Literal[5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8"],
        name: str | None = None,
    ) -> tuple[Output, Output, Output]: ...

    @overload
    def non_max_suppression(
        self,
        boxes: Operand,
        scores: Operand,
        max_output_boxes_per_class: Operand | None = None,
        iou_threshold: Operand | None = None,
        score_threshold: Operand | None = None,
        *,
        sort_result_descending: bool = True,
        box_encoding: Literal["corner", "center"] = "corner",
        output_type: ElementTypeName | ElementType = "i64",
        opset: Literal[4, "opset4"],
        name: str | None = None,
    ) -> Output: ...

    @overload
    def non_max_suppression(
        self,
        boxes: Operand,
        scores: Operand,
        max_output_boxes_per_class: Operand | None = None,
        iou_threshold: Operand | None = None,
        score_threshold: Operand | None = None,
        *,
        sort_result_descending: bool = True,
        box_encoding: Literal["corner", "center"] = "corner",
        output_type: ElementTypeName | ElementType = "i64",
        opset: Literal[3, "opset3"],
        name: str | None = None,
    ) -> Output: ...

    @overload
    def non_max_suppression(
        self,
        boxes: Operand,
        scores: Operand,
        max_output_boxes_per_class: Operand | None = None,
        iou_threshold: Operand | None = None,
        score_threshold: Operand | None = None,
        *,
        sort_result_descending: bool = True,
        box_encoding: Literal["corner", "center"] = "corner",
        opset: Literal[1, "opset1", 2, "opset2"],
        name: str | None = None,
    ) -> Output: ...

    def non_zero(
        self,
        data: Operand,
        *,
        output_type: ElementTypeName | ElementType = "i64",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The indices of the elements that are not zero, with a row for each axis.
        Specification: NonZero-3.

        data: an input.
        output_type: one of i32, i64.
        """

    def normalize_l2(
        self,
        data: Operand,
        axes: Operand,
        *,
        eps: float = 0.0,
        eps_mode: Literal["add", "max"] = "add",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`data` divided by its L2 norm along `axes`.

        `eps_mode` selects whether `eps` is added to the sum of squares, or is its lower limit.
        Specification: NormalizeL2-1.

        data: an input.
        axes: rank 0 or 1.
        eps: a number.
        eps_mode: one of "add", "max".
        """

    def not_equal(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether the two inputs differ.
        Specification: NotEqual-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def nv12_to_bgr(
        self,
        y: Operand,
        uv: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Like NV12toRGB, but blue is the first channel.
        Specification: NV12toBGR-8.

        y: shape [batch,height,width,1].
        uv: shape [batch,?,?,2], may be left out.
        """

    def nv12_to_rgb(
        self,
        y: Operand,
        uv: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """An RGB image from NV12: a plane of luma, and a plane of interleaved chroma.
        Specification: NV12toRGB-8.

        y: shape [batch,height,width,1].
        uv: shape [batch,?,?,2], may be left out.
        """

    @overload
    def one_hot(
        self,
        indices: Operand,
        depth: Operand,
        on_value: Operand,
        off_value: Operand,
        *,
        axis: int = 0,
        negative_indices_mode: Literal["ignore_negative", "normalize"] = "ignore_negative",
        opset: Literal[16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """OneHot, where negative indices can count from the end (`negative_indices_mode`).
        Specification: OneHot-16.

        indices: an input.
        depth: an input.
        on_value: an input.
        off_value: an input.
        axis: a whole number.
        negative_indices_mode: one of "ignore_negative", "normalize".
        """

    @overload
    def one_hot(
        self,
        indices: Operand,
        depth: Operand,
        on_value: Operand,
        off_value: Operand,
        *,
        axis: int = 0,
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15"],
        name: str | None = None,
    ) -> Output: ...

    @overload
    def pad(
        self,
        data: Operand,
        pads_begin: Operand,
        pads_end: Operand,
        pad_value: Operand | None = None,
        *,
        pad_mode: Literal["constant", "edge", "reflect", "symmetric"] = "constant",
        opset: Literal[12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """Like Pad-1, but a negative number removes elements.
        Specification: Pad-12.

        data: an input.
        pads_begin: rank 1.
        pads_end: rank 1.
        pad_value: may be left out.
        pad_mode: one of "constant", "edge", "reflect", "symmetric".
        """

    @overload
    def pad(
        self,
        data: Operand,
        pads_begin: Operand,
        pads_end: Operand,
        pad_value: Operand | None = None,
        *,
        pad_mode: Literal["constant", "edge", "reflect", "symmetric"] = "constant",
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11"],
        name: str | None = None,
    ) -> Output: ...

    def power(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`a` to the power of `b`. Integer results wrap around; for `b` < 0 they are truncated.
        Specification: Power-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def prelu(
        self,
        data: Operand,
        slope: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`slope * x` where x is negative, else x.

        A slope of rank 1 with the size of axis 1 of x applies along that axis. Others are
        broadcast.
        Specification: PReLU-1.

        data: an input.
        slope: an input.
        """

    @overload
    def prior_box(
        self,
        output_size: Operand,
        image_size: Operand,
        *,
        clip: bool = False,
        step: float = 0.0,
        offset: float = 0.0,
        variance: Sequence[float] = (),
        min_size: Sequence[float] = (),
        max_size: Sequence[float] = (),
        aspect_ratio: Sequence[float] = (),
        density: Sequence[float] = (),
        fixed_ratio: Sequence[float] = (),
        fixed_size: Sequence[float] = (),
        flip: bool = False,
        scale_all_sizes: bool = True,
        min_max_aspect_ratios_order: bool = True,
        opset: Literal[8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """Like PriorBox-1, but an attribute selects the order of the boxes.

        If `min_max_aspect_ratios_order` is true, the box of maximal size comes before the boxes
        of the
        aspect ratios, otherwise after them.
        Specification: PriorBox-8.

        output_size: rank 1.
        image_size: rank 1.
        clip: "true" or "false".
        step: a number.
        offset: a number.
        variance: a list of numbers.
        min_size: a list of numbers.
        max_size: a list of numbers.
        aspect_ratio: a list of numbers.
        density: a list of numbers.
        fixed_ratio: a list of numbers.
        fixed_size: a list of numbers.
        flip: "true" or "false".
        scale_all_sizes: "true" or "false".
        min_max_aspect_ratios_order: "true" or "false".
        """

    @overload
    def prior_box(
        self,
        output_size: Operand,
        image_size: Operand,
        *,
        clip: bool = False,
        step: float = 0.0,
        offset: float = 0.0,
        variance: Sequence[float] = (),
        min_size: Sequence[float] = (),
        max_size: Sequence[float] = (),
        aspect_ratio: Sequence[float] = (),
        density: Sequence[float] = (),
        fixed_ratio: Sequence[float] = (),
        fixed_size: Sequence[float] = (),
        flip: bool = False,
        scale_all_sizes: bool = True,
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7"],
        name: str | None = None,
    ) -> Output: ...

    def prior_box_clustered(
        self,
        output_size: Operand,
        image_size: Operand,
        *,
        step: float = 0.0,
        offset: float = 0.0,
        variance: Sequence[float] = (),
        clip: bool = True,
        width: Sequence[float] = (),
        height: Sequence[float] = (),
        step_w: float = 0.0,
        step_h: float = 0.0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Boxes of given widths and heights around every point of a grid.
        Specification: PriorBoxClustered-1.

        output_size: rank 1.
        image_size: rank 1.
        step: a number.
        offset: a number.
        variance: a list of numbers.
        clip: "true" or "false".
        width: a list of numbers.
        height: a list of numbers.
        step_w: a number.
        step_h: a number.
        """

    @overload
    def proposal(
        self,
        class_probs: Operand,
        bbox_deltas: Operand,
        image_shape: Operand,
        *,
        base_size: int = 0,
        pre_nms_topn: int = 0,
        post_nms_topn: int = 0,
        nms_thresh: float = 0.0,
        feat_stride: int = 1,
        min_size: int = 1,
        ratio: Sequence[float] = (),
        scale: Sequence[float] = (),
        clip_before_nms: bool = True,
        clip_after_nms: bool = False,
        normalize: bool = False,
        box_size_scale: float = 1.0,
        box_coordinate_scale: float = 1.0,
        framework: str = "",
        opset: Literal[4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output]:
        """Like Proposal-1, but the probabilities are a second output.

        The probability of a row without a box is 0; the CPU plugin does not set it.
        Specification: Proposal-4.

        class_probs: shape [images,?,?,?].
        bbox_deltas: shape [images,?,?,?].
        image_shape: rank 1.
        base_size: a whole number of at least 1.
        pre_nms_topn: a whole number of at least 1.
        post_nms_topn: a whole number of at least 1.
        nms_thresh: a number.
        feat_stride: a whole number of at least 1.
        min_size: a whole number of at least 1.
        ratio: a list of numbers.
        scale: a list of numbers.
        clip_before_nms: "true" or "false".
        clip_after_nms: "true" or "false".
        normalize: "true" or "false".
        box_size_scale: a number.
        box_coordinate_scale: a number.
        framework: a string.
        """

    @overload
    def proposal(
        self,
        class_probs: Operand,
        bbox_deltas: Operand,
        image_shape: Operand,
        *,
        base_size: int = 0,
        pre_nms_topn: int = 0,
        post_nms_topn: int = 0,
        nms_thresh: float = 0.0,
        feat_stride: int = 1,
        min_size: int = 1,
        ratio: Sequence[float] = (),
        scale: Sequence[float] = (),
        clip_before_nms: bool = True,
        clip_after_nms: bool = False,
        normalize: bool = False,
        box_size_scale: float = 1.0,
        box_coordinate_scale: float = 1.0,
        framework: str = "",
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3"],
        name: str | None = None,
    ) -> Output: ...

    def psroi_pooling(
        self,
        data: Operand,
        rois: Operand,
        *,
        spatial_bins_x: int = 1,
        spatial_bins_y: int = 1,
        output_dim: int,
        group_size: int,
        spatial_scale: float,
        mode: Literal["average", "bilinear"],
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The average of each bin of a region or, in mode `bilinear`, of samples in parts of the
        bin.

        Each bin or part has its own channels. The result is 0 from a region with batch item -1
        on.
        Specification: PSROIPooling-1.

        data: rank 4.
        rois: shape [regions,5].
        spatial_bins_x: a whole number of at least 0.
        spatial_bins_y: a whole number of at least 0.
        output_dim: a whole number of at least 1.
        group_size: a whole number of at least 1.
        spatial_scale: a number.
        mode: one of "average", "bilinear".
        """

    def random_uniform(
        self,
        out_shape: Operand,
        min_val: Operand,
        max_val: Operand,
        *,
        output_type: ElementTypeName | ElementType = "dynamic",
        global_seed: int = 0,
        op_seed: int = 0,
        alignment: Literal["tensorflow", "pytorch"] = "tensorflow",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Random numbers from `min_val` up to, but not including, `max_val`.

        The generator is that of TensorFlow (Philox) or PyTorch (Mersenne Twister). In OpenVINO,
        each
        run of the model draws the next numbers. irshape always draws the numbers of the first
        run; if
        both seeds are 0, they differ each time.
        Specification: RandomUniform-8.

        out_shape: rank 1.
        min_val: a scalar or one element.
        max_val: a scalar or one element.
        output_type: the name of an element type, such as f32 or i64.
        global_seed: a whole number of at least 0.
        op_seed: a whole number of at least 0.
        alignment: one of "tensorflow", "pytorch".
        """

    @overload
    def range(
        self,
        start: Operand,
        stop: Operand,
        step: Operand,
        *,
        output_type: ElementTypeName | ElementType = "dynamic",
        opset: Literal[4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """Numbers from `start` to `stop` (excluded), `step` apart, in `output_type`.

        For an integer type, the three inputs are first rounded towards zero.
        Specification: Range-4.

        start: rank 0.
        stop: rank 0.
        step: rank 0.
        output_type: the name of an element type, such as f32 or i64.
        """

    @overload
    def range(
        self,
        start: Operand,
        stop: Operand,
        step: Operand,
        *,
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3"],
        name: str | None = None,
    ) -> Output: ...

    def rdft(
        self,
        data: Operand,
        axes: Operand,
        signal_size: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Half the spectrum of a real signal; the other half is redundant.
        Specification: RDFT-9.

        data: rank 1 or more.
        axes: rank 1.
        signal_size: rank 1, may be left out.
        """

    @overload
    def read_value(
        self,
        init_value: Operand | None = None,
        *,
        variable_id: str,
        variable_type: ElementTypeName | ElementType = "dynamic",
        variable_shape: ShapeLike = ...,
        opset: Literal[6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """The value of a variable: `init_value`, or else zeros, until an Assign writes a value.
        Specification: ReadValue-6.

        init_value: may be left out.
        variable_id: a string.
        variable_type: the name of an element type, such as f32 or i64.
        variable_shape: a shape, such as 1..10,3,?.
        """

    @overload
    def read_value(
        self,
        init_value: Operand,
        *,
        variable_id: str = "",
        opset: Literal[3, "opset3", 4, "opset4", 5, "opset5"],
        name: str | None = None,
    ) -> Output: ...

    def reduce_l1(
        self,
        data: Operand,
        axes: Operand,
        *,
        keep_dims: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Sum of absolute values.
        Specification: ReduceL1-4.

        data: an input.
        axes: rank 0 or 1.
        keep_dims: "true" or "false".
        """

    def reduce_l2(
        self,
        data: Operand,
        axes: Operand,
        *,
        keep_dims: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Square root of the sum of squares.
        Specification: ReduceL2-4.

        data: an input.
        axes: rank 0 or 1.
        keep_dims: "true" or "false".
        """

    def reduce_logical_and(
        self,
        data: Operand,
        axes: Operand,
        *,
        keep_dims: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether all elements are true.
        Specification: ReduceLogicalAnd-1.

        data: an input.
        axes: rank 0 or 1.
        keep_dims: "true" or "false".
        """

    def reduce_logical_or(
        self,
        data: Operand,
        axes: Operand,
        *,
        keep_dims: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Whether any element is true.
        Specification: ReduceLogicalOr-1.

        data: an input.
        axes: rank 0 or 1.
        keep_dims: "true" or "false".
        """

    def reduce_max(
        self,
        data: Operand,
        axes: Operand,
        *,
        keep_dims: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The largest element.
        Specification: ReduceMax-1.

        data: an input.
        axes: rank 0 or 1.
        keep_dims: "true" or "false".
        """

    def reduce_mean(
        self,
        data: Operand,
        axes: Operand,
        *,
        keep_dims: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Arithmetic mean.

        The mean of integers is rounded towards zero. The mean of zero elements is 0, as in
        OpenVINO.
        Specification: ReduceMean-1.

        data: an input.
        axes: rank 0 or 1.
        keep_dims: "true" or "false".
        """

    def reduce_min(
        self,
        data: Operand,
        axes: Operand,
        *,
        keep_dims: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The smallest element.
        Specification: ReduceMin-1.

        data: an input.
        axes: rank 0 or 1.
        keep_dims: "true" or "false".
        """

    def reduce_prod(
        self,
        data: Operand,
        axes: Operand,
        *,
        keep_dims: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Product; integers wrap around.
        Specification: ReduceProd-1.

        data: an input.
        axes: rank 0 or 1.
        keep_dims: "true" or "false".
        """

    def reduce_sum(
        self,
        data: Operand,
        axes: Operand,
        *,
        keep_dims: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Sum; integers wrap around.
        Specification: ReduceSum-1.

        data: an input.
        axes: rank 0 or 1.
        keep_dims: "true" or "false".
        """

    def region_yolo(
        self,
        data: Operand,
        *,
        anchors: Sequence[float] = (),
        axis: int = 0,
        coords: int = 0,
        classes: int = 0,
        end_axis: int = 0,
        num: int = 0,
        do_softmax: bool = False,
        mask: Sequence[int] = (),
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Applies the logistic function to position, objectness and class scores of every region.

        With `do_softmax`, class scores get softmax instead, and axes `axis` to `end_axis` are
        joined.
        Specification: RegionYolo-1.

        data: rank 4.
        anchors: a list of numbers.
        axis: a whole number.
        coords: a whole number.
        classes: a whole number.
        end_axis: a whole number.
        num: a whole number.
        do_softmax: "true" or "false".
        mask: a list of whole numbers.
        """

    def relu(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The input, with 0 in place of negative elements.
        Specification: ReLU-1.

        data: an input.
        """

    def reorg_yolo(
        self,
        data: Operand,
        *,
        stride: Sequence[int],
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Moves blocks of stride * stride points into channels, in the order that YOLO defines.
        Specification: ReorgYolo-1.

        data: rank 4.
        stride: a list of whole numbers of at least 1.
        """

    def reshape(
        self,
        data: Operand,
        pattern: Operand,
        *,
        special_zero: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The same elements in another shape.

        In `pattern`, -1 stands for the size that follows from the number of elements. With
        `special_zero`, 0 copies the dimension of the input at the same index.
        Specification: Reshape-1.

        data: an input.
        pattern: rank 1.
        special_zero: "true" or "false".
        """

    def reverse(
        self,
        data: Operand,
        axis: Operand,
        *,
        mode: Literal["index", "mask"] = "index",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The elements in reverse order along the axes that a list or a mask selects.
        Specification: Reverse-1.

        data: an input.
        axis: rank 1.
        mode: one of "index", "mask".
        """

    def reverse_sequence(
        self,
        data: Operand,
        seq_lengths: Operand,
        *,
        batch_axis: int = 0,
        seq_axis: int = 1,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Reverses the first elements along `seq_axis`, for each position of `batch_axis`.

        `seq_lengths` are the numbers of elements to reverse.
        Specification: ReverseSequence-1.

        data: rank 2 or more.
        seq_lengths: rank 1.
        batch_axis: a whole number.
        seq_axis: a whole number.
        """

    def rgb_to_nv12(
        self,
        image: Operand,
        *,
        single_plane: bool = True,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, ...]:
        """An RGB image as a plane of luma and a plane of interleaved chroma, in one output or two.
        Specification: RGBtoNV12-17.

        image: shape [batch,height,width,3].
        single_plane: "true" or "false".
        """

    def rnn_cell(
        self,
        X: Operand,
        initial_hidden_state: Operand,
        W: Operand,
        R: Operand,
        B: Operand,
        *,
        hidden_size: int = 0,
        activations: Sequence[str] = ('tanh',),
        activations_alpha: Sequence[float] = (),
        activations_beta: Sequence[float] = (),
        clip: float = 0.0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """One step of a plain recurrent network.
        Specification: RNNCell-1.

        X: shape [batch,input_size].
        initial_hidden_state: shape [batch,hidden_size].
        W: rank 2.
        R: shape [?,hidden_size].
        B: rank 1.
        hidden_size: a whole number of at least 0.
        activations: a list of strings.
        activations_alpha: a list of numbers.
        activations_beta: a list of numbers.
        clip: a number.
        """

    def rnn_sequence(
        self,
        X: Operand,
        initial_hidden_state: Operand,
        sequence_lengths: Operand,
        W: Operand,
        R: Operand,
        B: Operand,
        *,
        hidden_size: int = 0,
        activations: Sequence[str] = ('tanh',),
        activations_alpha: Sequence[float] = (),
        activations_beta: Sequence[float] = (),
        clip: float = 0.0,
        direction: Literal["forward", "reverse", "bidirectional"] = "forward",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output]:
        """A plain recurrent network applied along time.
        Specification: RNNSequence-5.

        X: shape [batch,time,input_size].
        initial_hidden_state: shape [batch,?,hidden_size].
        sequence_lengths: shape [batch].
        W: rank 3.
        R: shape [?,?,hidden_size].
        B: rank 2.
        hidden_size: a whole number of at least 0.
        activations: a list of strings.
        activations_alpha: a list of numbers.
        activations_beta: a list of numbers.
        clip: a number.
        direction: one of "forward", "reverse", "bidirectional".
        """

    @overload
    def roi_align(
        self,
        data: Operand,
        rois: Operand,
        batch_indices: Operand,
        *,
        pooled_h: int = 0,
        pooled_w: int = 0,
        sampling_ratio: int = 0,
        spatial_scale: float = 0.0,
        mode: Literal["avg", "max"] = "avg",
        aligned_mode: Literal["asymmetric", "half_pixel_for_nn", "half_pixel"] = "asymmetric",
        opset: Literal[9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """Like ROIAlign-3, but `aligned_mode` selects where pixel centers lie in the feature map.
        Specification: ROIAlign-9.

        data: rank 4.
        rois: shape [regions,4].
        batch_indices: shape [regions].
        pooled_h: a whole number.
        pooled_w: a whole number.
        sampling_ratio: a whole number.
        spatial_scale: a number.
        mode: one of "avg", "max".
        aligned_mode: one of "asymmetric", "half_pixel_for_nn", "half_pixel".
        """

    @overload
    def roi_align(
        self,
        data: Operand,
        rois: Operand,
        batch_indices: Operand,
        *,
        pooled_h: int = 0,
        pooled_w: int = 0,
        sampling_ratio: int = 0,
        spatial_scale: float = 0.0,
        mode: Literal["avg", "max"] = "avg",
        opset: Literal[3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8"],
        name: str | None = None,
    ) -> Output: ...

    def roi_align_rotated(
        self,
        data: Operand,
        rois: Operand,
        batch_indices: Operand,
        *,
        pooled_h: int = 0,
        pooled_w: int = 0,
        sampling_ratio: int = 0,
        spatial_scale: float = 0.0,
        clockwise_mode: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Average of interpolated samples in each bin of a rotated region.

        A region is [center x, center y, width, height, angle in radians].
        Specification: ROIAlignRotated-15.

        data: rank 4.
        rois: shape [regions,5].
        batch_indices: shape [regions].
        pooled_h: a whole number.
        pooled_w: a whole number.
        sampling_ratio: a whole number.
        spatial_scale: a number.
        clockwise_mode: "true" or "false".
        """

    def roi_pooling(
        self,
        data: Operand,
        rois: Operand,
        *,
        output_size: Sequence[int] = (),
        output_roi: Sequence[int] | None = None,
        pooled_h: int | None = None,
        pooled_w: int | None = None,
        spatial_scale: float,
        method: Literal["max", "bilinear"] = "max",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The maximum of each bin of a region, or one interpolated sample of the bin.

        The result is 0 for the first region with batch item -1, and for all regions after it.
        Specification: ROIPooling-1.

        data: rank 4.
        rois: shape [regions,5].
        output_size: a list of whole numbers.
        output_roi: a list of whole numbers.
        pooled_h: a whole number of at least 0.
        pooled_w: a whole number of at least 0.
        spatial_scale: a number.
        method: one of "max", "bilinear".
        """

    def roll(
        self,
        data: Operand,
        shift: Operand,
        axes: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The elements shifted along `axes`. Elements beyond the end return at the beginning.
        Specification: Roll-7.

        data: an input.
        shift: rank 0 or 1.
        axes: rank 0 or 1.
        """

    def round(
        self,
        data: Operand,
        *,
        mode: Literal["half_to_even", "half_away_from_zero"] = "half_to_even",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The nearest whole number. `mode` selects whether halves go to even or away from zero.
        Specification: Round-5.

        data: an input.
        mode: one of "half_to_even", "half_away_from_zero".
        """

    def scaled_dot_product_attention(
        self,
        query: Operand,
        key: Operand,
        value: Operand,
        attention_mask: Operand | None = None,
        scale: Operand | None = None,
        sink: Operand | None = None,
        *,
        causal: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`softmax(query · keyᵀ · scale + attention_mask) · value`.

        `query` is `[N…, L, E]`, `key` `[N…, S, E]` and `value` `[N…, S, Ev]`. With `causal`, a
        query
        attends to keys up to its own position, and the mask is ignored. `sink` is an additional
        score
        in each softmax, without a row in `value`.
        Specification: ScaledDotProductAttention-13.

        query: rank 3 or more.
        key: rank 3 or more.
        value: rank 3 or more.
        attention_mask: may be left out.
        scale: a scalar or one element, may be left out.
        sink: may be left out.
        causal: "true" or "false".
        """

    @overload
    def scatter_elements_update(
        self,
        data: Operand,
        indices: Operand,
        updates: Operand,
        axis: Operand,
        *,
        reduction: Literal["none", "sum", "prod", "min", "max", "mean"] = "none",
        use_init_val: bool = True,
        opset: Literal[12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """`data` with elements along an axis replaced by, or combined with, elements of `updates`.
        Specification: ScatterElementsUpdate-12.

        data: an input.
        indices: an input.
        updates: an input.
        axis: an input.
        reduction: one of "none", "sum", "prod", "min", "max", "mean".
        use_init_val: "true" or "false".
        """

    @overload
    def scatter_elements_update(
        self,
        data: Operand,
        indices: Operand,
        updates: Operand,
        axis: Operand,
        *,
        opset: Literal[3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11"],
        name: str | None = None,
    ) -> Output: ...

    @overload
    def scatter_nd_update(
        self,
        data: Operand,
        indices: Operand,
        updates: Operand,
        *,
        reduction: Literal["none", "sum", "sub", "prod", "min", "max"] = "none",
        opset: Literal[15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """`data` with slices at tuples of indices replaced by `updates`, or combined with them.
        Specification: ScatterNDUpdate-15.

        data: rank 1 or more.
        indices: rank 1 or more.
        updates: an input.
        reduction: one of "none", "sum", "sub", "prod", "min", "max".
        """

    @overload
    def scatter_nd_update(
        self,
        data: Operand,
        indices: Operand,
        updates: Operand,
        *,
        opset: Literal[4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14"],
        name: str | None = None,
    ) -> Output: ...

    def scatter_update(
        self,
        data: Operand,
        indices: Operand,
        updates: Operand,
        axis: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`data` with the slices along `axis` at `indices` replaced by the slices of `updates`.
        Specification: ScatterUpdate-3.

        data: an input.
        indices: an input.
        updates: an input.
        axis: an input.
        """

    def search_sorted(
        self,
        sorted_sequence: Operand,
        values: Operand,
        *,
        right_mode: bool = False,
        output_type: ElementTypeName | ElementType = "i64",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The position at which each value would be inserted into a sorted sequence.

        There is one sequence for all values, or one for each row.
        Specification: SearchSorted-15.

        sorted_sequence: rank 1 or more.
        values: an input.
        right_mode: "true" or "false".
        output_type: one of i32, i64.
        """

    def segment_max(
        self,
        data: Operand,
        segment_ids: Operand,
        num_segments: Operand | None = None,
        *,
        fill_mode: Literal["ZERO", "LOWEST"] = "ZERO",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The elementwise maximum of the rows of `data` in each segment.
        Specification: SegmentMax-16.

        data: shape [rows,...].
        segment_ids: shape [rows].
        num_segments: rank 0, may be left out.
        fill_mode: one of "ZERO", "LOWEST".
        """

    def select(
        self,
        cond: Operand,
        then: Operand,
        otherwise: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Elements of `then` where `cond` is true, and of `otherwise` where it is false.
        Specification: Select-1.

        cond: an input.
        then: an input.
        otherwise: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def selu(
        self,
        data: Operand,
        alpha: Operand,
        lambda_: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`lambda * x` where x is positive, else `alpha * lambda * (exp(x) - 1)`.
        Specification: Selu-1.

        data: an input.
        alpha: an input.
        lambda_: an input.
        """

    @overload
    def shape_of(
        self,
        data: Operand,
        *,
        output_type: ElementTypeName | ElementType,
        opset: Literal[3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16", 17, "opset17"] | None = None,
        name: str | None = None,
    ) -> Output:
        """The sizes of the dimensions of a tensor, as i32 or i64.
        Specification: ShapeOf-3.

        data: an input.
        output_type: one of i32, i64.
        """

    @overload
    def shape_of(
        self,
        data: Operand,
        *,
        opset: Literal[1, "opset1", 2, "opset2"],
        name: str | None = None,
    ) -> Output: ...

    def shuffle_channels(
        self,
        data: Operand,
        *,
        axis: int = 1,
        group: int = 1,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The channels in another order: the first of each group, then the second, and so on.
        Specification: ShuffleChannels-1.

        data: an input.
        axis: a whole number.
        group: a whole number, 1 or more.
        """

    def sigmoid(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`1 / (1 + exp(-x))`.
        Specification: Sigmoid-1.

        data: an input.
        """

    def sign(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """-1, 0 or 1, by the sign of the input.
        Specification: Sign-1.

        data: an input.
        """

    def sin(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Sine.
        Specification: Sin-1.

        data: an input.
        """

    def sinh(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Hyperbolic sine.
        Specification: Sinh-1.

        data: an input.
        """

    def slice(
        self,
        data: Operand,
        start: Operand,
        stop: Operand,
        step: Operand,
        axes: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The part of `data` from `start` to `stop`, in steps of `step`, along `axes`.
        Specification: Slice-8.

        data: rank 1 or more.
        start: rank 1.
        stop: rank 1.
        step: rank 1.
        axes: rank 1, may be left out.
        """

    def slice_scatter(
        self,
        data: Operand,
        updates: Operand,
        start: Operand,
        stop: Operand,
        step: Operand,
        axes: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`data`, in which `updates` replaces the part that Slice would select.
        Specification: SliceScatter-15.

        data: rank 1 or more.
        updates: rank 1 or more.
        start: rank 1.
        stop: rank 1.
        step: rank 1.
        axes: rank 1, may be left out.
        """

    @overload
    def softmax(
        self,
        data: Operand,
        *,
        axis: int = 1,
        opset: Literal[8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """`exp(x)` divided by its sum along `axis`. A negative `axis` counts from the end.
        Specification: SoftMax-8.

        data: an input.
        axis: a whole number.
        """

    @overload
    def softmax(
        self,
        data: Operand,
        *,
        axis: int = 1,
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7"],
        name: str | None = None,
    ) -> Output: ...

    def softplus(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`ln(1 + exp(x))`.
        Specification: SoftPlus-4.

        data: an input.
        """

    def softsign(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`x / (1 + |x|)`.
        Specification: SoftSign-9.

        data: an input.
        """

    def space_to_batch(
        self,
        data: Operand,
        block_shape: Operand,
        pads_begin: Operand,
        pads_end: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Pads the input with zeros, and rearranges its spatial blocks into the batch.
        Specification: SpaceToBatch-2.

        data: rank 2 or more.
        block_shape: rank 1.
        pads_begin: rank 1.
        pads_end: rank 1.
        """

    def space_to_depth(
        self,
        data: Operand,
        *,
        block_size: int,
        mode: Literal["blocks_first", "depth_first"] = "blocks_first",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Rearranges spatial blocks into channels.
        Specification: SpaceToDepth-1.

        data: rank 3 or more.
        block_size: a whole number.
        mode: one of "blocks_first", "depth_first".
        """

    def sparse_fill_empty_rows(
        self,
        values: Operand,
        dense_shape: Operand,
        indices: Operand,
        default_value: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output, Output]:
        """Adds one element, `default_value`, to each empty row of a sparse matrix.
        Specification: SparseFillEmptyRows-16.

        values: rank 1.
        dense_shape: shape [2].
        indices: rank 2.
        default_value: rank 0.
        """

    def split(
        self,
        data: Operand,
        axis: Operand,
        *,
        num_splits: int,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, ...]:
        """`num_splits` parts of equal length along `axis`.
        Specification: Split-1.

        data: an input.
        axis: rank 0.
        num_splits: a whole number, 1 to 1048576.
        """

    def sqrt(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Square root; NaN for negative numbers.
        Specification: Sqrt-1.

        data: an input.
        """

    def squared_difference(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The square of `a - b`.
        Specification: SquaredDifference-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    @overload
    def squeeze(
        self,
        data: Operand,
        axes: Operand | None = None,
        *,
        allow_axis_skip: bool = False,
        opset: Literal[15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> Output:
        """The input without those axes in `axes` that have size 1; other axes stay.

        With `allow_axis_skip`, the rank is unknown if it is unknown whether an axis stays.
        Specification: Squeeze-15.

        data: an input.
        axes: rank 0 or 1, may be left out.
        allow_axis_skip: "true" or "false".
        """

    @overload
    def squeeze(
        self,
        data: Operand,
        axes: Operand | None = None,
        *,
        opset: Literal[1, "opset1", 2, "opset2", 3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10", 11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14"],
        name: str | None = None,
    ) -> Output: ...

    def stft(
        self,
        signal: Operand,
        window: Operand,
        frame_size: Operand,
        frame_step: Operand,
        *,
        transpose_frames: bool = False,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The spectrum of each frame of a real signal (short-time Fourier transform).
        Specification: STFT-15.

        signal: rank 1 or 2.
        window: rank 1.
        frame_size: rank 0.
        frame_step: rank 0.
        transpose_frames: "true" or "false".
        """

    def strided_slice(
        self,
        data: Operand,
        begin: Operand,
        end: Operand,
        strides: Operand | None = None,
        *,
        begin_mask: Sequence[int] = (),
        end_mask: Sequence[int] = (),
        new_axis_mask: Sequence[int] = (),
        shrink_axis_mask: Sequence[int] = (),
        ellipsis_mask: Sequence[int] = (),
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The part of `data` from `begin` to `end`, in steps of `strides`.

        The masks select axes to insert, to remove or to keep whole.
        Specification: StridedSlice-1.

        data: an input.
        begin: rank 1.
        end: rank 1.
        strides: rank 1, may be left out.
        begin_mask: a list of whole numbers.
        end_mask: a list of whole numbers.
        new_axis_mask: a list of whole numbers.
        shrink_axis_mask: a list of whole numbers.
        ellipsis_mask: a list of whole numbers.
        """

    def string_tensor_pack(
        self,
        begins: Operand,
        ends: Operand,
        symbols: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Makes strings from parts of one array of bytes, from the positions `begins` to `ends`.
        Specification: StringTensorPack-15.

        begins: an input.
        ends: an input.
        symbols: rank 1.
        """

    def string_tensor_unpack(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output, Output]:
        """Joins the bytes of all strings. Returns where each string begins and ends, and the bytes.
        Specification: StringTensorUnpack-15.

        data: an input.
        """

    def subtract(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`a - b`; integers wrap around.
        Specification: Subtract-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

    def swish(
        self,
        data: Operand,
        beta: Operand | None = None,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`x * sigmoid(beta * x)`, where `beta` is 1 if the input is absent.
        Specification: Swish-4.

        data: an input.
        beta: rank 0, may be left out.
        """

    def tan(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Tangent.
        Specification: Tan-1.

        data: an input.
        """

    def tanh(
        self,
        data: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """Hyperbolic tangent.
        Specification: Tanh-1.

        data: an input.
        """

    def tensor_iterator(
        self,
        *inputs: Operand | Sliced | Carried | Iteration,
        body: Callable[..., Any],
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Any:
        """Runs a body for each slice of its inputs.
        Specification: TensorIterator-1.

        inputs: may be left out.
        """

    def tile(
        self,
        data: Operand,
        repeats: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """`data` repeated `repeats` times along each axis.
        Specification: Tile-1.

        data: an input.
        repeats: rank 1.
        """

    @overload
    def topk(
        self,
        data: Operand,
        k: Operand,
        *,
        axis: int = 0,
        mode: Literal["max", "min"] = "max",
        sort: Literal["value", "index", "none"] = "none",
        index_element_type: ElementTypeName | ElementType = "i32",
        stable: bool = False,
        opset: Literal[11, "opset11", 12, "opset12", 13, "opset13", 14, "opset14", 15, "opset15", 16, "opset16"] | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output]:
        """Like TopK-3, but with `stable`, equal elements keep their order.
        Specification: TopK-11.

        data: rank 1 or more.
        k: rank 0.
        axis: a whole number.
        mode: one of "max", "min".
        sort: one of "value", "index", "none".
        index_element_type: one of i32, i64.
        stable: "true" or "false".
        """

    @overload
    def topk(
        self,
        data: Operand,
        k: Operand,
        *,
        axis: int = 0,
        mode: Literal["max", "min"] = "max",
        sort: Literal["value", "index", "none"] = "none",
        index_element_type: ElementTypeName | ElementType = "i32",
        opset: Literal[3, "opset3", 4, "opset4", 5, "opset5", 6, "opset6", 7, "opset7", 8, "opset8", 9, "opset9", 10, "opset10"],
        name: str | None = None,
    ) -> tuple[Output, Output]: ...

    @overload
    def topk(
        self,
        data: Operand,
        k: Operand,
        *,
        axis: int = 0,
        mode: Literal["max", "min"] = "max",
        sort: Literal["value", "index", "none"] = "none",
        index_element_type: ElementTypeName | ElementType = "i32",
        opset: Literal[1, "opset1", 2, "opset2"],
        name: str | None = None,
    ) -> tuple[Output, Output]: ...

    def transpose(
        self,
        data: Operand,
        order: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The input with its axes in the given `order`; if `order` is empty, in reverse order.
        Specification: Transpose-1.

        data: an input.
        order: rank 1.
        """

    def unique(
        self,
        data: Operand,
        axis: Operand | None = None,
        *,
        sorted: bool = True,
        index_element_type: ElementTypeName | ElementType = "i64",
        count_element_type: ElementTypeName | ElementType = "i64",
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, Output, Output, Output]:
        """The distinct elements, or distinct slices along an axis. Other outputs: where each occurs
        first; the index of the distinct element for each input element; and how often each
        occurs.
        Specification: Unique-10.

        data: an input.
        axis: a scalar or one element, may be left out.
        sorted: "true" or "false".
        index_element_type: one of i32, i64.
        count_element_type: one of i32, i64.
        """

    def unsqueeze(
        self,
        data: Operand,
        axes: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """The input with new axes of size 1. `axes` are their positions in the result.
        Specification: Unsqueeze-1.

        data: an input.
        axes: rank 0 or 1.
        """

    def variadic_split(
        self,
        data: Operand,
        axis: Operand,
        split_lengths: Operand,
        *,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> tuple[Output, ...]:
        """Parts of the given lengths along `axis`. A length of -1 means the rest of the axis.
        Specification: VariadicSplit-1.

        data: an input.
        axis: an input.
        split_lengths: rank 1.
        """

    def xor(
        self,
        a: Operand,
        b: Operand,
        *,
        auto_broadcast: Literal["none", "numpy", "pdpd"] = "numpy",
        axis: int = 0,
        opset: Opset | None = None,
        name: str | None = None,
    ) -> Output:
        """LogicalXor under its second name in opset1. Specification: LogicalXor-1.

        a: an input.
        b: an input.
        auto_broadcast: one of "none", "numpy", "pdpd".
        axis: a whole number.
        """

op: Operations
