/** `npm run tutorial`: the world of docs/tutorial.md, until Ctrl-C; with `--record`, runs the commands of the page and writes their output into it. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { consoleStepsOf, withOutputs } from '../docs/console.ts';
import { prepareServers } from '../harness/prepare.ts';
import { reportLongWaits } from '../harness/wait-for.ts';
import { createSteps } from './steps.ts';
import { startTutorialWorld, type TutorialWorld } from './tutorial-world.ts';

const page = join(import.meta.dirname, '../../docs/tutorial.md');
const { values } = parseArgs({ options: { record: { type: 'boolean' } } });

reportLongWaits((what, waitedMs) => process.stderr.write(`waiting for ${what} … ${Math.round(waitedMs / 1_000)} s\n`));
await prepareServers({ controllerManager: true });
process.stderr.write('Starting what the tutorial needs; it takes a minute or two:\n');
const world = await startTutorialWorld('shop', createSteps(process.stderr).step);
try {
  if (values.record === true) await record(world);
  else {
    process.stdout.write(
      `\nEverything runs. In another terminal: . ${world.profile}\nThen follow docs/tutorial.md. Ctrl-C ends everything.\n`,
    );
    const alive = setInterval(() => undefined, 60_000);
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
    clearInterval(alive);
  }
} finally {
  await world.stop();
}

async function record({ run }: TutorialWorld): Promise<void> {
  const text = readFileSync(page, 'utf8');
  const outputs: string[] = [];
  for (const { command } of consoleStepsOf(text)) {
    const output = await run(command);
    process.stdout.write(`$ ${command}\n${output}`);
    outputs.push(output);
  }
  writeFileSync(page, withOutputs(text, outputs));
}
