/** @file `npm start`: installs and builds if needed, then plans the main example (or runs the command given after --). */
import { makeReady, run } from './ready.mjs';

const given = process.argv.slice(2);
const args = given.length > 0 ? given : ['plan', 'examples/llama-3.1-70b-64xh100.yaml'];

makeReady();
process.exitCode = run(process.execPath, ['packages/cli/dist/main.js', ...args], { stdio: 'inherit' }).status ?? 1;
