/** @file Learn: short pages with a figure each, a table of all strategies, and questions with checked answers. */

import { momentOf, Steps } from '@meshwright/figures';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Store } from '../../app/store.ts';
import type { ViewProps } from '../../app/view-props.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { Heads } from '../../parts/heads.tsx';
import { useNarrow } from '../../parts/narrow.ts';
import { Pending } from '../../parts/pending.tsx';
import { Scroll } from '../../parts/scroll.tsx';
import { Disturb } from '../what-if/disturb.tsx';
import { exam } from './exam.ts';
import { type Guess, type Page, type PageLesson, pages } from './pages.ts';
import { strategies } from './strategies.ts';

export function LearnView({ store }: ViewProps): VNode {
  const at = Math.min(pages.length + 1, store.place.value.page);
  const page = pages[at];
  const titles = [...pages.map(({ title }) => title), 'All side by side', 'Questions'];
  return (
    <section aria-label="Learn" class="learn">
      <Pages titles={titles} at={at} turn={store.turn} />
      <article
        class={at === pages.length ? 'roomy-table' : page && page.figure !== 'disturbed' ? 'with-figure' : undefined}
      >
        {page ? (
          <PageView key={page.title} store={store} page={page} />
        ) : at === pages.length ? (
          <Strategies />
        ) : (
          <Exam />
        )}
        <div class="actions">
          <button type="button" disabled={at === 0} onClick={() => store.turn(at - 1)}>
            Page before
          </button>
          <button type="button" class="main" disabled={at === titles.length - 1} onClick={() => store.turn(at + 1)}>
            Next page
          </button>
        </div>
      </article>
    </section>
  );
}

interface PagesProps {
  readonly titles: readonly string[];
  readonly at: number;
  turn(page: number): void;
}

/** All pages: a list beside the page, one line above it on a phone. */
function Pages({ titles, at, turn }: PagesProps): VNode {
  if (useNarrow())
    return (
      <nav aria-label="Pages">
        <label>
          Page{' '}
          <select value={String(at)} onChange={({ currentTarget }) => turn(Number(currentTarget.value))}>
            {titles.map((title, index) => (
              <option key={title} value={String(index)}>{`${index + 1}. ${title}`}</option>
            ))}
          </select>
        </label>
      </nav>
    );
  return (
    <nav aria-label="Pages">
      <ol>
        {titles.map((title, index) => (
          <li key={title}>
            <span class="number" aria-hidden="true">{`${index + 1}.`}</span>
            <button type="button" aria-current={index === at ? 'page' : undefined} onClick={() => turn(index)}>
              {title}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function PageView({ store, page }: { readonly store: Store; readonly page: Page }): VNode {
  const { figure } = page;
  return (
    <>
      <div>
        <h2>{page.title}</h2>
        <p class="plain">{page.plain}</p>
        <p>
          <strong>{page.question}</strong>
        </p>
        {page.text.map((text) => (
          <p key={text}>{text}</p>
        ))}
        <Question guess={page.guess} lead="Guess first: " />
        <p>{page.look}</p>
      </div>
      {figure === 'disturbed' ? (
        <Broken store={store} />
      ) : (
        <div>
          <LessonFigure store={store} title={page.title} lesson={figure} />
          <Further store={store} lesson={figure} />
        </div>
      )}
    </>
  );
}

/** The reader's own plan, disturbed. */
function Broken({ store }: { readonly store: Store }): VNode {
  const row = store.selected.value;
  return (
    <>
      {row?.state === 'simulated' ? <Disturb store={store} row={row} /> : <p role="status">The plan is being made.</p>}
      <div class="actions">
        <button type="button" class="main" onClick={() => store.open('whatif')}>
          Now on your model
        </button>
      </div>
    </>
  );
}

interface LessonProps {
  readonly store: Store;
  readonly lesson: PageLesson;
}

/** Where to go from a lesson. */
const Further = ({ store, lesson: { layout, model, sharding, beside } }: LessonProps): VNode => (
  <div class="actions">
    <button
      type="button"
      class="main"
      onClick={() => {
        store.step({ layout, model, sharding, frame: 0, detail: 'collectives', beside });
        store.open('steps');
      }}
    >
      Step through it
    </button>
    <button
      type="button"
      onClick={() => {
        store.step({ layout: 'mine', frame: 0, beside: undefined });
        store.open('steps');
      }}
    >
      Now on your model
    </button>
  </div>
);

/** The figure of a page, stepped where it stands. */
function LessonFigure({ store, title, lesson }: LessonProps & { readonly title: string }): VNode {
  const { layout, model, sharding } = lesson;
  const frame = useSignal(0);
  const known = useAnswer(title, () => store.viewer.ask('lesson', layout, model, sharding));
  return (
    <Pending known={known.value} words="Compiling the program of this page." height={560}>
      {(script) => {
        const moment = momentOf(script, frame.value);
        const exchange = script.steps.findIndex(({ kind }, index) => index >= moment.frame && kind !== 'compute');
        return (
          <figure>
            <div class="actions">
              <button type="button" disabled={moment.frame === 0} onClick={() => void (frame.value = moment.frame - 1)}>
                Back a step
              </button>
              <button
                type="button"
                disabled={moment.frame === moment.frames}
                onClick={() => void (frame.value = moment.frame + 1)}
              >
                Next step
              </button>
              <button type="button" disabled={exchange < 0} onClick={() => void (frame.value = exchange + 1)}>
                Next exchange
              </button>
            </div>
            <div class="lesson">
              <Steps script={script} frame={moment.frame} size="narrow" />
            </div>
            <figcaption aria-live="polite" class="hidden">{`${moment.head}. ${moment.sentence}`}</figcaption>
          </figure>
        );
      }}
    </Pending>
  );
}

interface QuestionProps {
  readonly guess: Guess;
  /** Before the question. */
  readonly lead: string;
  answered?(isRight: boolean): void;
}

function Question({ guess, lead, answered }: QuestionProps): VNode {
  const given = useSignal<number | undefined>(undefined);
  const { question, answers, right, because } = guess;
  return (
    <fieldset class="guess">
      <legend>{`${lead}${question}`}</legend>
      {answers.map((answer, index) => (
        <button
          key={answer}
          type="button"
          aria-pressed={given.value === index}
          onClick={() => {
            given.value = index;
            answered?.(index === right);
          }}
        >
          {answer}
        </button>
      ))}
      <p role="status">
        {given.value === undefined
          ? ''
          : `${given.value === right ? 'Yes.' : `No: ${answers[right] ?? ''}.`} ${because}`}
      </p>
    </fieldset>
  );
}

const Strategies = (): VNode => (
  <>
    <h2>All side by side</h2>
    <p>
      Psi parameters, N data ranks, t tensor ranks, p stages, m micro-batches, C context ranks, E expert ranks, k
      experts of a token, s b h values of an activation, g bytes of a gradient.
    </p>
    <Scroll name="Strategies">
      <table>
        <Heads columns={['strategy', 'splits', 'state of a GPU, bytes', 'a GPU sends', 'link']} />
        <tbody>
          {strategies.map(({ name, splits, state, sends, link }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{splits}</td>
              <td>{state}</td>
              <td>{sends}</td>
              <td>{link}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
    <p>The same with the numbers of your own job: meshwright explain job.yaml.</p>
  </>
);

/** All questions again, with how many were right. */
function Exam(): VNode {
  const given = useSignal<Readonly<Record<number, boolean>>>({});
  const answers = Object.values(given.value);
  return (
    <>
      <h2>Questions</h2>
      <p>One from each page, without the page. The first answer counts.</p>
      {exam.map((guess, index) => (
        <Question
          key={guess.question}
          guess={guess}
          lead={`${index + 1}. `}
          answered={(isRight) => {
            if (given.value[index] === undefined) given.value = { ...given.value, [index]: isRight };
          }}
        />
      ))}
      <p role="status">
        {answers.length === 0
          ? ''
          : `${answers.filter((each) => each).length} of ${answers.length} right${answers.length < exam.length ? ` so far, ${exam.length - answers.length} to go` : ''}.`}
      </p>
    </>
  );
}
