/** A member of each of these families is added to a copy of the project by the steps of its row in src/README.md; and each step that is left out is asked for by something. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { tempFolder } from '../harness/temp-folder.ts';
import { root } from './sources.ts';
import { example as command } from './worked-examples/command.ts';
import { example as credentialSource } from './worked-examples/credential-source.ts';
import { example as doctorCheck } from './worked-examples/doctor-check.ts';
import { example as evidence } from './worked-examples/evidence.ts';
import { example as guard } from './worked-examples/guard.ts';
import { example as notificationTarget } from './worked-examples/notification-target.ts';
import { example as page } from './worked-examples/page.ts';
import { example as provider } from './worked-examples/provider.ts';
import { example as rebaseRule } from './worked-examples/rebase-rule.ts';
import { example as rolloutCheck } from './worked-examples/rollout-check.ts';
import { example as strategy } from './worked-examples/strategy.ts';
import type { Step, WorkedExample } from './worked-examples/worked-example.ts';

/** The examples by their files. */
const files = {
  provider,
  strategy,
  guard,
  evidence,
  'rebase-rule': rebaseRule,
  'credential-source': credentialSource,
  'notification-target': notificationTarget,
  'rollout-check': rolloutCheck,
  'doctor-check': doctorCheck,
  page,
  command,
} satisfies Readonly<Record<string, WorkedExample>>;
const examples: readonly WorkedExample[] = Object.values(files);
const allSteps = examples.flatMap(({ steps }) => steps);
/** What the type checker and the suites read. */
const parts = ['src', 'test', 'docs', 'crd', 'package.json'];
const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { compilerOptions: object };

/** A copy of the project. Each check changes it, and leaves it as it was. */
const copy = tempFolder('worked-examples');
for (const part of parts) cpSync(join(root, part), join(copy, part), { recursive: true, filter: (path) => !path.includes('/docs/images') });
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');

/** What a check finds in the copy while these steps are done. */
async function withSteps(steps: readonly Step[], check: () => Promise<string>): Promise<string> {
  try {
    for (const step of steps) applyStep(step);
    return await check();
  } finally {
    for (const { file, text } of steps) {
      if (text === undefined) cpSync(join(root, file), join(copy, file));
      else rmSync(join(copy, file), { force: true });
    }
  }
}

function applyStep({ file, text, after = {}, replace = {} }: Step): void {
  const path = join(copy, file);
  if (text !== undefined) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return;
  }
  const replaced = Object.entries(replace).reduce(
    (all, [from, to]) => {
      assert.ok(all.includes(from), `${file} has no ${from}`);
      return all.replace(from, to);
    },
    readFileSync(path, 'utf8'),
  );
  const lines = Object.entries(after).reduce((all, [start, added]) => {
    const index = all.findIndex((line) => line.trimStart().startsWith(start));
    assert.ok(index >= 0, `${file} has no line that begins with ${start}`);
    return all.toSpliced(index + 1, 0, added);
  }, replaced.split('\n'));
  writeFileSync(path, lines.join('\n'));
}

/** The problems that the type checker finds in the program, its explanations and the suites; empty if it finds none. */
function typeProblems(steps: readonly Step[]): Promise<string> {
  const include = ['src', 'docs/explanations', ...examples.flatMap(({ suite }) => suite)];
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }));
  return withSteps(steps, () => outputOfFailed(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', copy]));
}

/** The output of the suite if one of its tests fails; otherwise empty. */
function suiteProblems(steps: readonly Step[], { suite }: WorkedExample): Promise<string> {
  return withSteps(steps, () => outputOfFailed(process.execPath, ['--test-isolation=none', '--test', ...suite]));
}

async function outputOfFailed(command: string, args: readonly string[]): Promise<string> {
  // A test file that finds itself in a run reports to that run.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  try {
    await promisify(execFile)(command, args, { cwd: copy, env, maxBuffer: 1 << 28 });
    return '';
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}` || String(error);
  }
}

test('the rows of the worked examples are in the table, with a link to the example', () => {
  const page = readFileSync(join(root, 'src/README.md'), 'utf8');
  for (const [file, { row }] of Object.entries(files))
    assert.ok(page.includes(`\n| [${row}](../test/structure/worked-examples/${file}.ts) | `), `${file}: ${row}`);
  assert.deepEqual(
    globSync('*.ts', { cwd: join(root, 'test/structure/worked-examples') }).toSorted(),
    [...Object.keys(files), 'worked-example'].map((file) => `${file}.ts`).toSorted(),
  );
});

test('the types are right with all steps of all worked examples', async () => {
  assert.equal(await typeProblems(allSteps), '');
});

for (const example of examples) {
  describe(`a new member of the family "${example.row}"`, () => {
    test('passes the tests of its family', async () => {
      assert.equal(await suiteProblems(example.steps, example), '');
    });
    for (const step of example.steps.filter(({ without }) => without !== 'types')) {
      test(`fails the tests until it has its step in ${step.file}`, async () => {
        assert.notEqual(
          await suiteProblems(
            example.steps.filter((other) => other !== step),
            example,
          ),
          '',
        );
      });
    }
  });
}

/** Of each example, the steps that the type checker alone asks for. One of each is left out at a time. */
const asked = examples.map(({ word, steps }) => ({ word, steps: steps.filter(({ without }) => without === 'types') }));
const rounds = Math.max(...asked.map(({ steps }) => steps.length));
for (let round = 0; round < rounds; round++) {
  const left = asked.flatMap(({ word, steps: { [round]: step } }) => (step === undefined ? [] : [{ word, step }]));
  test(`the type checker asks for the steps in ${left.map(({ step }) => step.file).join(', ')}`, async () => {
    const problems = await typeProblems(allSteps.filter((one) => !left.some(({ step }) => step === one)));
    for (const { word, step } of left) assert.ok(problems.includes(word), `${step.file} is not asked for:\n${problems}`);
  });
}
