/** Whoever deletes the folder of a wing, its import and its name in the list of wings, has a smaller product: its types are right, it starts, and it does the main job. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { preparedVariable } from '../harness/prepared.ts';
import { wings } from '../../src/wings.ts';
import { copyWithout } from './copy-without.ts';
import { root } from './sources.ts';

const run = promisify(execFile);
const mainJob = 'test/end-to-end/main-job.test.ts';
const tests = [
  'crd',
  'charts',
  'test/harness',
  'test/release',
  'test/end-to-end/world.ts',
  'test/service/kube/fake-api-server.ts',
  mainJob,
];
const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { compilerOptions: object };

/** Without the first, Node would take the run of the copied test for one of its own, and skip it; with the second, the copied test would start the whole product. */
const { NODE_TEST_CONTEXT: _, [preparedVariable]: __, ...env } = process.env;

describe('without the wing', () => {
  for (const { id } of wings)
    it(`${id}, the types are right, and the service patches a Deployment when a push is announced`, async () => {
      const folder = copyWithout(id, tests);
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src', mainJob] }));
      const start = (...args: string[]) =>
        run(process.execPath, args, { cwd: folder, env, maxBuffer: 16 << 20 }).then(
          ({ stdout }) => stdout,
          ({ stdout = '', stderr = '' }: { stdout?: string; stderr?: string }) => assert.fail(`${stdout}\n${stderr}`),
        );
      await start(join(root, 'node_modules/typescript/bin/tsc'), '--project', folder);
      const preload = join(folder, 'test/harness/preload.ts');
      const pattern = 'patches a Deployment when the registry announces a push';
      const said = await start(`--import=${preload}`, '--test', '--test-reporter=tap', `--test-name-pattern=${pattern}`, mainJob);
      assert.match(said, new RegExp(`^ +ok \\d+ - ${pattern}$`, 'm'));
      assert.match(await start('src/main.ts', '--help'), /^ +get /m);
    });
});
