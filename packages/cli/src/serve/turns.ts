/** @file One run at a time: when the next one gets its turn. */

/** Who runs. */
export interface Turns {
  /** Calls `run` once no other is going, and answers true when it has ended; `gone` aborts when nobody listens any more. A run that
   * is ending already is waited for, and so is one that the same page asked for before, which is ended first: a page has one
   * run. Answers false at once where the run of another page goes on. */
  take(page: string | undefined, gone: AbortController, run: () => Promise<void>): Promise<boolean>;
}

interface Going {
  readonly page: string | undefined;
  readonly gone: AbortController;
  readonly ended: Promise<void>;
}

/** Nobody runs yet. */
export function createTurns(): Turns {
  let going: Going | undefined;
  return {
    take: async (page, gone, run) => {
      while (going) {
        if (page !== undefined && going.page === page) going.gone.abort();
        if (!going.gone.signal.aborted) return false;
        await going.ended;
      }
      if (gone.signal.aborted) return true;
      const ended = run().finally(() => void (going = undefined));
      going = { page, gone, ended };
      await ended;
      return true;
    },
  };
}
