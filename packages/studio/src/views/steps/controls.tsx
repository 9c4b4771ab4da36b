/** @file Buttons of the figure, and where in the step it stands. */
import type { Moment } from '@meshwright/figures';
import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Moves } from './view.tsx';

interface ControlsProps {
  readonly moment: Moment;
  readonly moves: Moves;
  readonly playing: Signal<boolean>;
}

export function Controls({ moment, moves, playing }: ControlsProps): VNode {
  const { frame, frames } = moment;
  const atEnd = frame === frames;
  return (
    <fieldset class="controls" aria-label="Steps">
      <button type="button" disabled={frame === 0} onClick={() => moves.first()}>
        First
      </button>
      <button type="button" disabled={frame === 0} onClick={() => moves.back()}>
        Back
      </button>
      <button type="button" class="main" disabled={atEnd} onClick={() => moves.next()}>
        Next
      </button>
      <button type="button" disabled={atEnd} onClick={() => moves.layer()}>
        Next layer
      </button>
      <button type="button" disabled={atEnd} onClick={() => moves.phase(true)}>
        Next phase
      </button>
      <button type="button" disabled={atEnd} onClick={() => moves.last()}>
        Last
      </button>
      <button
        type="button"
        aria-pressed={playing.value}
        disabled={atEnd}
        onClick={() => void (playing.value = !playing.value)}
      >
        {playing.value ? 'Pause' : 'Play'}
      </button>
      <span class="quiet numbers">{`step ${frame} of ${frames}`}</span>
    </fieldset>
  );
}
