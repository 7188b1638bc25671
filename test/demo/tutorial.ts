/** `npm run tutorial`: the world of docs/tutorial.md, and with a name that of another tutorial, until Ctrl-C; with `--record`, runs the commands of the page and writes their output into it. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { consoleStepsOf, withOutputs } from '../docs/console.ts';
import { prepareServers } from '../harness/prepare.ts';
import { reportLongWaits } from '../harness/wait-for.ts';
import { createSteps } from './steps.ts';
import { startTutorialWorld, type Tutorial, tutorials, type TutorialWorld } from './tutorial-world.ts';

const usage = `Usage: npm run tutorial [-- [TUTORIAL] [--record]]

Starts Redis, etcd, kube-apiserver with controllers, a registry and image-watcher on loopback ports, for the commands of a page. Stays up until Ctrl-C.

  push        docs/tutorial.md: from the first push to a release that fails and is rolled back (the default)
  production  docs/tutorial-production.md: production runs what staging has proven
  base        docs/tutorial-base-images.md: a patched base image reaches its applications, for the platform engineer and for a team

  --record    run the commands of the page, and write their output into it
`;

const options = { record: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [name = 'push', ...others] = positionals;
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
if (!isTutorial(name) || others.length > 0) {
  process.stderr.write(`there is no tutorial "${positionals.join(' ')}"\n\n${usage}`);
  process.exit(2);
}
const { page } = tutorials[name];
const file = join(import.meta.dirname, '../..', page);

reportLongWaits((what, waitedMs) => process.stderr.write(`waiting for ${what} … ${Math.round(waitedMs / 1_000)} s\n`));
await prepareServers({ controllerManager: true });
process.stderr.write('Starting what the tutorial needs; it takes a minute or two:\n');
const world = await startTutorialWorld('shop', createSteps(process.stderr).step, name);
try {
  if (values.record === true) await record(world);
  else {
    process.stdout.write(`\nEverything runs. In another terminal: . ${world.profile}\nThen follow ${page}. Ctrl-C ends everything.\n`);
    const alive = setInterval(() => undefined, 60_000);
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
    clearInterval(alive);
  }
} finally {
  await world.stop();
}

function isTutorial(text: string): text is Tutorial {
  return Object.hasOwn(tutorials, text);
}

async function record({ run }: TutorialWorld): Promise<void> {
  const text = readFileSync(file, 'utf8');
  const outputs: string[] = [];
  for (const { command } of consoleStepsOf(text)) {
    const output = await run(command);
    process.stdout.write(`$ ${command}\n${output}`);
    outputs.push(output);
  }
  writeFileSync(file, withOutputs(text, outputs));
}
