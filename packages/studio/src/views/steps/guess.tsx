/** @file Guess first: how much will GPU 0 have sent by the end? The answer is the program's. */
import { momentOf, type StepScript } from '@meshwright/figures';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { size } from '../../parts/numbers.ts';

export function Guess({ script }: { readonly script: StepScript }): VNode | null {
  const guessed = useSignal<number | undefined>(undefined);
  const [first] = momentOf(script, script.steps.length).gpus;
  const answer = first?.sent ?? 0;
  if (!first || answer === 0) return null;
  const choices = [answer / 2, answer, answer * 2];
  const { value } = guessed;
  return (
    <section class="guess" aria-label="Guess first">
      <p>{`Guess first: how much will GPU ${first.rank} have sent by the end of the step?`}</p>
      <div class="actions">
        {choices.map((each) => (
          <button key={each} type="button" aria-pressed={value === each} onClick={() => void (guessed.value = each)}>
            {size(each)}
          </button>
        ))}
      </div>
      <p role="status">
        {value === undefined
          ? ''
          : value === answer
            ? `Yes: ${size(answer)}. Step through to see where it goes.`
            : `No: it is ${size(answer)}, ${value < answer ? 'twice' : 'half'} of that. Step through to see why.`}
      </p>
    </section>
  );
}
