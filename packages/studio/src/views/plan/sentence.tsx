/** @file The scenario as a sentence: numbers are typed into or changed by arrow keys, names are chosen. */
import type { VNode } from 'preact';
import type { Store } from '../../app/store.ts';
import type { Names } from '../../engine/words.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { grouped } from '../../parts/numbers.ts';
import { modelName, neighbour, type Scenario } from '../../scenario/scenario.ts';

/** What takes a changed GPU back. */
const OWN_GPU = 'the GPUs of the host';

/** The sentence, with what is wrong about it below. */
export function Sentence({ store }: { readonly store: Store }): VNode {
  const { scenario } = store.place.value;
  const { nodes, sequences, length, precision } = scenario;
  const names = useAnswer('names', () => store.quickly.ask('names')).value.value;
  const dropped = typeof scenario.model === 'string' ? [] : [scenario.model.name];
  const number = (key: 'nodes' | 'sequences' | 'length') => (value: number) => store.edit({ [key]: value });
  const errors = store.issues.value.filter(({ severity }) => severity === 'error');
  return (
    <section class="sentence" aria-label="Scenario">
      <p>
        Train{' '}
        <Choice
          name="Model"
          value={modelName(scenario)}
          choices={[...dropped, ...(names?.models ?? [])]}
          choose={(model) => store.edit({ model })}
        />{' '}
        on <Amount name="Hosts" value={nodes} set={number('nodes')} /> {nodes === 1 ? 'host' : 'hosts'} of{' '}
        <Hosts store={store} names={names} />,{' '}
        <Amount name="Sequences of a step" value={sequences} set={number('sequences')} /> sequences of{' '}
        <Amount name="Tokens of a sequence" value={length} set={number('length')} /> tokens a step in{' '}
        <span class="end">
          <Choice
            name="Precision"
            value={precision}
            choices={['bf16', 'fp16', 'fp32']}
            choose={(next) => store.edit({ precision: next as Scenario['precision'] })}
          />
          .
        </span>
      </p>
      <Beside store={store} />
      {errors.length > 0 && (
        <ul class="problem" role="alert">
          {errors.map(({ code, path, message, hint = '' }) => (
            <li key={`${code} ${path} ${message}`}>{`${path === '' ? '' : `${path}: `}${message} ${hint}`}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** What a host is, its GPU where that was changed, and the links between hosts. */
function Hosts({ store, names }: { readonly store: Store; readonly names: Names | undefined }): VNode {
  const { nodes, host, gpu, linkGbps } = store.place.value.scenario;
  return (
    <>
      <Choice
        name="Host"
        value={host}
        choices={names?.hosts ?? []}
        choose={(next) => store.edit({ host: next, gpu: undefined, linkGbps: undefined })}
      />
      {gpu !== undefined && (
        <>
          {' '}
          with{' '}
          <Choice
            name="GPU"
            value={gpu}
            choices={[OWN_GPU, ...(names?.gpus ?? [])]}
            choose={(next) => store.edit({ gpu: next === OWN_GPU ? undefined : next })}
          />
        </>
      )}
      {nodes > 1 && (
        <>
          {' '}
          with{' '}
          <Amount
            name="Gb/s of a link between hosts"
            value={linkGbps}
            empty={String(store.quick.value?.linkGbps ?? 'preset')}
            set={(value) => store.edit({ linkGbps: value })}
          />{' '}
          Gb/s between hosts
        </>
      )}
    </>
  );
}

/** Tokens of a step, files, and keys that are fixed. */
function Beside({ store }: { readonly store: Store }): VNode {
  const { sequences, length, layout } = store.place.value.scenario;
  const fixed = Object.entries(layout).filter(([, value]) => value !== undefined);
  return (
    <p class="quiet">
      {`${grouped(sequences * length)} tokens a step. Drop a config.json or a job file anywhere, or `}
      <label class="file">
        choose one
        <input
          type="file"
          accept=".json,.yaml,.yml"
          onChange={({ currentTarget }) => void chosen(currentTarget, store)}
        />
      </label>
      {fixed.length > 0 && (
        <>
          {`. Fixed: ${fixed.map(([key, value]) => `${key} ${String(value)}`).join(', ')} `}
          <button type="button" onClick={() => store.edit({ layout: {} })}>
            Leave all open
          </button>
        </>
      )}
    </p>
  );
}

async function chosen(input: HTMLInputElement, store: Store): Promise<void> {
  const file = input.files?.[0];
  if (file) await (await import('../../app/drop.ts')).readFile(file, store);
  input.value = '';
}

interface AmountProps {
  readonly name: string;
  readonly value: number | undefined;
  /** What stands there when there is no value. */
  readonly empty?: string;
  set(value: number): void;
}

/** A number in the sentence: typed, or changed by arrow keys to the next power of two. What is no number is not set. */
function Amount({ name, value, empty = '', set }: AmountProps): VNode {
  const text = value === undefined ? '' : String(value);
  return (
    <input
      class="amount"
      aria-label={name}
      inputMode="numeric"
      value={text}
      placeholder={empty}
      size={Math.max(2, text.length || empty.length)}
      onInput={({ currentTarget }) => {
        const typed = Number(currentTarget.value.replace(/[ ,_]/g, ''));
        if (Number.isSafeInteger(typed) && typed >= 1 && typed !== value) set(typed);
      }}
      onBlur={({ currentTarget }) => void (currentTarget.value = text)}
      onKeyDown={(event) => {
        if (value === undefined || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
        event.preventDefault();
        set(neighbour(value, event.key === 'ArrowUp'));
      }}
    />
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly choices: readonly string[];
  choose(value: string): void;
}

const Choice = ({ name, value, choices, choose }: ChoiceProps): VNode => (
  <select aria-label={name} value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
    {(choices.includes(value) ? choices : [value, ...choices]).map((each) => (
      <option key={each} value={each}>
        {each}
      </option>
    ))}
  </select>
);
