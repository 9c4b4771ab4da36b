/** @file Scores of predictions against measured training runs. */
export { type NamedText, type RunsReading, readExclusions, readRuns } from './read-runs.ts';
export { type RunRow, runColumns } from './run-row.ts';
export { type NullScore, type Score, type ScoreOptions, scoreRuns } from './score.ts';
export type { ScoredRow } from './scored-row.ts';
export { type SkipReason, skipReasons } from './skip.ts';
export type { SourceScore } from './source-score.ts';
export type { ErrorSummary } from './statistics.ts';
