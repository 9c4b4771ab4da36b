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
  // The answer is not always the one in the middle.
  const least = answer / 2 ** (Math.round(answer) % 3);
  const choices = [least, 2 * least, 4 * least];
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
            : `No: it is ${size(answer)}, ${ratioWords(value / answer)} of that. Step through to see why.`}
      </p>
    </section>
  );
}

/** What the answer is of a guess. */
const ratioWords = (guess: number): string =>
  ({ 0.25: 'four times', 0.5: 'twice', 2: 'half', 4: 'a quarter' })[guess] ?? 'another amount';
