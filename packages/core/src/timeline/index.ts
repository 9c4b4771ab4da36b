/** @file What happened when: timelines, and what was recorded of a step that ran. */
export {
  type Move,
  type Recording,
  type RecordingColumns,
  recordingColumns,
  recordingOfColumns,
} from './recording.ts';
export {
  createTimeline,
  durationOf,
  laneOf,
  type Slice,
  sliceOf,
  type Timeline,
  type TimelineColumns,
  timelineColumns,
  timelineOfColumns,
} from './timeline.ts';
