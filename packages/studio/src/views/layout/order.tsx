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

export function Order({ axes, reorder }: OrderProps): VNode {
  const dragged = useSignal<number | undefined>(undefined);
  const put = (to: number): void => {
    if (dragged.value !== undefined) reorder(placed(axes, dragged.value, to));
    dragged.value = undefined;
  };
  return (
    <fieldset class="order">
      <legend>Order of ranks, fastest axis first: drag, or press</legend>
      {axes.map((axis, index) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: what dragging does, the two buttons do as well
        <span
          key={axis}
          class="axis"
          draggable
          onDragStart={() => void (dragged.value = index)}
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            // It is no file for the page.
            event.preventDefault();
            event.stopPropagation();
            put(index);
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
