/** The commands of the README that start the demo, as they stand there: each in a process of its own, as somebody at a terminal starts it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { poolVariable } from '../harness/control-plane.ts';
import { type RunningProcess, startProcess } from '../harness/process.ts';
import { GiveUp, waitFor } from '../harness/wait-for.ts';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** Without what only a test has: the demo starts a control plane of its own. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== poolVariable && name !== 'NODE_TEST_CONTEXT'));

const running: RunningProcess[] = [];
after(async () => {
  await Promise.all(running.map((one) => one.stop()));
});

/** Starts a command line in a shell; it ends with this process. */
async function start(command: string): Promise<RunningProcess> {
  const started = await startProcess('sh', ['-c', command], { name: 'demo', cwd: root, env });
  running.push(started);
  return started;
}

function outputOf({ log }: RunningProcess): string {
  return readFileSync(log, 'utf8');
}

/** Where the dashboard is, and the token with which the demo lets somebody sign in. */
function dashboardIn(output: string): { readonly address: string; readonly token: string } {
  const [, address = '', file = ''] = /(http:\S+) {3}sign in with the token that this prints[^\n]*\n +cat (\S+)\n/.exec(output) ?? [];
  return { address, token: readFileSync(file, 'utf8').trim() };
}

async function runToEnd(command: string): Promise<string> {
  const started = await start(command);
  const { code } = await started.exited;
  assert.equal(code, 0, started.logTail(40));
  return outputOf(started);
}

/** The output when it contains all of these; fails where the command ends before. */
function untilPrinted(started: RunningProcess, ...texts: readonly string[]): Promise<string> {
  return waitFor(texts.join(', '), () => {
    const output = outputOf(started);
    if (texts.every((text) => output.includes(text))) return output;
    if (started.exit() !== undefined) throw new GiveUp(started.logTail(40));
    return undefined;
  });
}

describe('the commands of the README', () => {
  for (const command of ['npm run demo', 'npm run demo -- --once', 'npm run demo -- base', 'npm run tutorial', 'npm run tutorial -- base'])
    test(`the README names "${command}"`, () => assert.ok(readme.includes(command)));

  test('npm run demo -- --once shows an update from push to Event, and ends', async () => {
    const output = await runToEnd('npm run demo -- --once');
    for (const told of [
      /✓ the policy is Ready .* runs .*:1\.0\.0$/m,
      /✓ the Deployment runs 1\.0\.1/,
      // By the push; on a slow machine, a reconcile of the new policy or of its new target may come to list the tags only then, and find it first.
      /ImagePolicy status .*:1\.0\.0 → .*:1\.0\.1, Applied at .*, by (Webhook|PolicyChange|TargetChange)/,
      /Event of Deployment {2}Updated: c0 from .*:1\.0\.0 to .*:1\.0\.1/,
      /image_watcher_workload_changes_total\{.*source="(Webhook|PolicyChange|TargetChange)".*\} 1$/m,
    ])
      assert.match(output, told);
  });

  test('npm run demo stays up, serves the dashboard, and pushes a tag that the user types', async () => {
    const demo = await start('echo 1.0.2 | npm run demo');
    const output = await untilPrinted(demo, 'It stays up', 'Deployment web runs', ':1.0.2');
    const { address, token } = dashboardIn(output);
    assert.match(token, /^eyJ\S+$/);
    assert.equal((await fetch(address)).status, 200);
    await demo.stop(60_000);
    assert.doesNotMatch(outputOf(demo), /The demo failed/);
    // The shell ends first.
    await waitFor('the dashboard to be gone', () =>
      fetch(address).then(
        () => false,
        () => true,
      ),
    );
  });

  describe('npm run demo -- base', () => {
    let demo: RunningProcess;
    let output = '';
    before(async () => {
      demo = await start('npm run demo -- base');
      output = await untilPrinted(demo, 'It stays up');
    });
    after(() => demo.stop(60_000));

    test('the user of the dashboard sees the bases', async () => {
      const { address, token } = dashboardIn(output);
      const response = await fetch(`${address}/api/v1/bases`, { headers: { authorization: `Bearer ${token}` } });
      const { bases } = (await response.json()) as { bases: { name: string }[] };
      assert.deepEqual(bases.map(({ name }) => name).toSorted(), ['framework', 'java']);
    });

    test('a patched base reaches every application on its line, and a bad base is stopped at the canary', () => {
      assert.match(output, /✓ the canary runs its former image again/);
      assert.equal(output.match(/6 images: 4 current, 0 behind, 1 on another line, 1 built on something else/g)?.length, 2);
      assert.match(output, /the others were never changed: web 1\.0\.0-base\.\d+, .*, portal 1\.0\.0-base\.\d+, mail 1\.0\.0$/m);
      assert.match(output, /Deployment .*\/web: pod .*CrashLoopBackOff/);
    });

    test('an application on a variant of the base is not moved, and its line is shown', () => {
      assert.equal(output.match(/^ +shop\/mail:1\.0\.0 +OtherLine +on 21\.0\.1-alpine .*it is built on 21\.0\.1-alpine, /gm)?.length, 2);
      assert.match(output, /mail is not moved: it is built on 21\.0\.1-alpine, a version of another line than 21\.0\.2/);
    });

    test('a chain of bases is moved: first the framework, then its application', () => {
      const chain =
        /framework on Java is rebased .*3\.1\.0 → 3\.1\.0-base\.\d+\n.*application on the framework .*portal: 1\.0\.0 → 1\.0\.0-base\.\d+\n/;
      assert.match(output, chain);
      assert.match(output, /^ +shop\/portal:1\.0\.0-base\.\d+ +Current +on 21\.0\.2 /m);
    });
  });

  for (const command of ['npm run tutorial', 'npm run tutorial -- base'])
    test(`${command} says what to do next, and its commands work in another terminal`, async () => {
      const tutorial = await start(command);
      const output = await untilPrinted(tutorial, 'Everything runs.');
      const [, profile = ''] = /In another terminal: (\. \S+)/.exec(output) ?? [];
      // The first commands of each page.
      const push = command.endsWith('base') ? 'push library/base-java:21.0.1' : 'push web:1.0.0';
      const shown = await runToEnd(`${profile} && image-watcher version && ${push} && kubectl get namespace shop`);
      for (const line of [/^(?:1\.0\.0|.*21\.0\.1): digest: sha256:/m, /^shop +Active/m]) assert.match(shown, line);
      await tutorial.stop(60_000);
    });
});
