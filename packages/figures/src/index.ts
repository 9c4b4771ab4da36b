/** @file Figures: pure functions from data to SVG. Each is a Preact component; `svgText` writes one as a file. */

export { Checkpoints, type CheckpointsProps } from './checkpoints/figure.tsx';
export { ClusterMap, type ClusterMapProps } from './cluster-map/figure.tsx';
export { bytesBetween, type MapLink, mapLinks } from './cluster-map/links.tsx';
export { type AxisFacts, type ExchangeFacts, type GpuFacts, type StepFacts, stepFacts } from './exchanges/facts.ts';
export { Exchanges, type ExchangesProps } from './exchanges/figure.tsx';
export { MemoryBars, type MemoryBarsProps } from './memory/bars.tsx';
export { memoryOverStep, type StageMemory, whyOf } from './memory/facts.ts';
export { MemoryOver, type MemoryOverProps } from './memory/over-step.tsx';
export { memoryParts } from './memory/parts.ts';
export * from './palette/index.ts';
export { Ranking, type RankingProps } from './ranking/figure.tsx';
export { frontOf, fullestBytes } from './ranking/front.ts';
export { Scaling, type ScalingProps } from './scaling/figure.tsx';
export { Steps, type StepsProps, StepsStill, stillFrames } from './steps/figure.tsx';
export { scriptOptionsOf } from './steps/law.ts';
export {
  type Lesson,
  type LessonKey,
  type LessonModel,
  type LessonScene,
  lessonJob,
  lessonModels,
  lessonProgram,
  lessonScene,
  lessons,
} from './steps/lessons.ts';
export { isRecordingOf } from './steps/replay.ts';
export { type ScriptOptions, type ScriptStep, type StepScript, stepScript } from './steps/script.ts';
export {
  type Detail,
  frameOfStep,
  framesOf,
  type GpuState,
  type Moment,
  momentOf,
  placeOfFrame,
} from './steps/state.ts';
export { svgText } from './svg/frame.tsx';
export { type Invocation, type StageTimeline, stageTimelines } from './timeline/facts.ts';
export { StepTimeline, type TimelineProps } from './timeline/figure.tsx';
export { Waterfall, type WaterfallProps } from './waterfall/figure.tsx';
export { partsInSight, type StepPart, stepParts } from './waterfall/parts.ts';
