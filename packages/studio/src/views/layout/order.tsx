/** @file The order of ranks: axes that are dragged, or moved by buttons, into any order. */
import type { DenseAxis } from '@meshwright/core/mesh';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';

interface OrderProps {
  /** Axes that split something, fastest first. */
  readonly axes: readonly DenseAxis[];
  reorder(axes: readonly DenseAxis[]): void;
}

/** `axes` with the one at `from` at the place `to`. */
export function placed(axes: readonly DenseAxis[], from: number, to: number): readonly DenseAxis[] {
  const axis = axes[from];
  if (axis === undefined) return axes;
  const others = axes.filter((_, index) => index !== from);
  return [...others.slice(0, to), axis, ...others.slice(to)];
}

/** `order` with the axes that are in `axes` in the order of these; the others keep their places. */
export function reordered(order: readonly DenseAxis[], axes: readonly DenseAxis[]): readonly DenseAxis[] {
  const next = axes[Symbol.iterator]();
  return order.map((axis) => (axes.includes(axis) ? (next.next().value ?? axis) : axis));
}

/** A pointer moves this many pixels before a press is a drag. */
const DRAG = 4;

export function Order({ axes, reorder }: OrderProps): VNode {
  const dragged = useSignal<Dragged | undefined>(undefined);
  const { value } = dragged;
  const shown = value?.over === undefined ? axes : placed(axes, value.from, value.over);
  const drop = (): void => {
    const { from = 0, over } = dragged.value ?? {};
    dragged.value = undefined;
    if (over !== undefined && over !== from) reorder(placed(axes, from, over));
  };
  return (
    <fieldset
      class="order"
      onPointerMove={(event) => {
        const { value: now } = dragged;
        if (!now || (now.over === undefined && Math.abs(event.clientX - now.x) < DRAG)) return;
        dragged.value = { ...now, over: placeAt(event.currentTarget, event) ?? now.over ?? now.from };
      }}
      onPointerUp={drop}
      onPointerCancel={() => void (dragged.value = undefined)}
    >
      <legend>Order of ranks, fastest axis first: drag, or press</legend>
      {shown.map((axis, index) => (
        <span
          key={axis}
          class={value?.over === index ? 'axis dragged' : 'axis'}
          data-axis={index}
          onPointerDown={(event) => {
            if (event.target instanceof HTMLButtonElement) return;
            // A finger keeps to where it went down; the row hears of all of its ways instead.
            event.currentTarget.parentElement?.setPointerCapture(event.pointerId);
            dragged.value = { from: axes.indexOf(axis), x: event.clientX, over: undefined };
          }}
        >
          <button
            type="button"
            aria-label={`${axis} faster`}
            disabled={index === 0}
            onClick={() => reorder(placed(axes, index, index - 1))}
          >
            {'\u2039'}
          </button>
          {axis}
          <button
            type="button"
            aria-label={`${axis} slower`}
            disabled={index === axes.length - 1}
            onClick={() => reorder(placed(axes, index, index + 1))}
          >
            {'\u203a'}
          </button>
        </span>
      ))}
      {axes.length < 2 && <span class="quiet">Only one axis splits anything.</span>}
    </fieldset>
  );
}

/** An axis under a pointer. */
interface Dragged {
  readonly from: number;
  /** Where it went down. */
  readonly x: number;
  /** The place that it is over; undefined until it has moved. */
  readonly over: number | undefined;
}

/** The place of the axis that is nearest to a pointer, in its line. */
function placeAt(row: Element, { clientX, clientY }: PointerEvent): number | undefined {
  const places = [...row.querySelectorAll('[data-axis]')].map((element, index) => ({
    index,
    box: element.getBoundingClientRect(),
  }));
  const inLine = places.filter(({ box }) => clientY >= box.top - 24 && clientY <= box.bottom + 24);
  const middleOf = ({ box }: (typeof places)[number]): number => Math.abs(clientX - (box.left + box.right) / 2);
  return inLine.toSorted((one, other) => middleOf(one) - middleOf(other))[0]?.index;
}
