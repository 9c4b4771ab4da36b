/** @file The whole step in small above the lanes, with a frame around what is seen below; pressing it moves the frame. */
import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type LaneRow, middle, moved, type Window } from './lanes.ts';
import { type Paints, paintRows } from './paint.ts';

/** Pixels of a row, and of all rows at most. */
const [row, most] = [4, 64] as const;

interface MinimapProps {
  readonly rows: readonly LaneRow[];
  readonly window: Signal<Window>;
  readonly whole: number;
  /** Pixels left of the lanes, on a canvas of some width. */
  left(width: number): number;
  paints(): Paints;
}

/** For pointers only: keys move the window of the lanes themselves. */
export function Minimap({ rows, window, whole, left: leftOf, paints }: MinimapProps): VNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const height = Math.min(most, rows.length * row);
  const { from, to } = window.value;
  useEffect(() => {
    const draw = (): void => {
      const element = canvas.current;
      const context = element?.getContext('2d');
      if (!element || !context) return;
      element.width = element.clientWidth;
      element.height = height;
      const left = leftOf(element.width);
      const inner = element.width - left;
      const { background, text } = paints();
      context.fillStyle = background;
      context.fillRect(0, 0, element.width, height);
      const place = { left, top: 0, width: inner, rowHeight: height / rows.length, gap: 0 };
      paintRows(context, rows, { from: 0, to: whole }, place, paints().kinds);
      context.strokeStyle = text;
      context.lineWidth = 2;
      context.strokeRect(
        left + (from / whole) * inner + 1,
        1,
        Math.max(4, ((to - from) / whole) * inner) - 2,
        height - 2,
      );
    };
    const frame = requestAnimationFrame(draw);
    addEventListener('resize', draw);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('resize', draw);
    };
  }, [rows, from, to]);
  const go = (event: PointerEvent): void => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const left = leftOf(box.width);
    const time = ((event.clientX - box.left - left) / (box.width - left)) * whole;
    const seen = window.value;
    window.value = moved(seen, (time - middle(seen)) / (seen.to - seen.from), whole);
  };
  return (
    <div aria-hidden="true">
      <canvas
        ref={canvas}
        class="minimap"
        style={{ height: `${height}px` }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          go(event);
        }}
        onPointerMove={(event) => {
          if (event.buttons === 1) go(event);
        }}
      />
    </div>
  );
}
