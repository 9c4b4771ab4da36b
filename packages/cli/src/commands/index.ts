import type { Command } from '@commander-js/extra-typings';
import type { Session } from '../host.ts';
import { registerCalibrate } from './calibrate.ts';
import { registerCheckpoint } from './checkpoint.ts';
import { registerExam } from './exam.ts';
import { registerExplain } from './explain.ts';
import { registerFigure } from './figure.ts';
import { registerModel } from './model.ts';
import { registerPlan } from './plan.ts';
import { registerProgram } from './program.ts';
import { registerResume } from './resume.ts';
import { registerRun } from './run.ts';
import { registerSample } from './sample.ts';
import { registerScore } from './score.ts';
import { registerServe } from './serve.ts';
import { registerShow } from './show.ts';
import { registerSimulate } from './simulate.ts';
import { registerVerify } from './verify.ts';

/** Adds one subcommand to the command `meshwright`. Each file of this folder exports one. */
export type Registration = (command: Command, session: Session) => void;

/** Every subcommand, in the order of the help text. */
export const registrations: readonly Registration[] = [
  registerPlan,
  registerShow,
  registerExplain,
  registerProgram,
  registerSimulate,
  registerRun,
  registerResume,
  registerSample,
  registerCheckpoint,
  registerVerify,
  registerFigure,
  registerModel,
  registerScore,
  registerCalibrate,
  registerExam,
  registerServe,
];
