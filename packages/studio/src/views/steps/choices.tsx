/** @file Which layout, model and detail the figure shows. */
import { type LessonKey, lessonModels, lessons } from '@meshwright/figures';
import type { VNode } from 'preact';
import type { Store } from '../../app/store.ts';

/** All choices of the figure. */
export function Choices({ store }: { readonly store: Store }): VNode {
  const { layout, model, sharding, detail, beside } = store.place.value.steps;
  const row = store.selected.value;
  const lesson = lessons.find(({ key }) => key === layout);
  const others = lessons.filter(({ key }) => key !== layout).map(({ key, short }) => [key, short] as const);
  return (
    <div class="choices">
      <Layouts store={store} />
      {layout === 'sharded' && (
        <Choice
          name="Sharded state"
          value={String(sharding)}
          options={shardings}
          choose={(value) => store.step({ sharding: Number(value) as 1 | 2 | 3, frame: 0 })}
        />
      )}
      {layout !== 'mine' && layout !== 'run' && (
        <Choice
          name="Model"
          value={model}
          options={lessonModels.map((each) => [each, each] as const)}
          choose={(value) => store.step({ model: value, frame: 0 })}
        />
      )}
      <Choice
        name="A press is"
        value={detail}
        options={details}
        choose={(value) => store.step({ detail: value === 'hops' ? 'hops' : 'collectives', frame: 0 })}
      />
      <Choice
        name="Compare with"
        value={beside ?? ''}
        options={[['', 'nothing'], ...others]}
        choose={(value) => store.step({ beside: value === '' ? undefined : (value as LessonKey) })}
      />
      <p class="quiet">
        {layout === 'run'
          ? `A real run: ${store.replay.value?.says ?? 'none yet.'}`
          : layout === 'mine' && row
            ? `Your plan: ${row.short}.`
            : `Eight H100 in two nodes of four, 16 sequences a step: ${lesson?.name ?? ''}.`}
      </p>
    </div>
  );
}

type Options = readonly (readonly [value: string, words: string])[];

const shardings: Options = [
  ['1', 'ZeRO-1: optimizer'],
  ['2', 'ZeRO-2: and gradients'],
  ['3', 'ZeRO-3: and weights'],
];
const details: Options = [
  ['collectives', 'a whole exchange'],
  ['hops', 'one message'],
];

function Layouts({ store }: { readonly store: Store }): VNode {
  const { layout } = store.place.value.steps;
  return (
    <fieldset>
      <legend>Layout</legend>
      {lessons.map(({ key, short, name }) => (
        <button
          key={key}
          type="button"
          aria-pressed={layout === key}
          title={name}
          onClick={() => store.step({ layout: key, frame: 0 })}
        >
          {short}
        </button>
      ))}
      <button
        type="button"
        aria-pressed={layout === 'mine'}
        disabled={!store.selected.value}
        onClick={() => store.step({ layout: 'mine', frame: 0 })}
      >
        My plan
      </button>
      {(store.replay.value !== undefined || layout === 'run') && (
        <button type="button" aria-pressed={layout === 'run'} onClick={() => store.step({ layout: 'run', frame: 0 })}>
          Replay of the run
        </button>
      )}
    </fieldset>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly options: Options;
  choose(value: string): void;
}

const Choice = ({ name, value, options, choose }: ChoiceProps): VNode => (
  <label>
    {`${name} `}
    <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
      {options.map(([each, words]) => (
        <option key={each} value={each}>
          {words}
        </option>
      ))}
    </select>
  </label>
);
