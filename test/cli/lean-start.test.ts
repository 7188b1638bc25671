/** The settings of Node with which the service runs, however it is started. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it, test } from 'node:test';
import { keepStart, leanEnvironment, leanOptions, leanStart } from '../../src/cli/lean-start.ts';
import { startService } from '../harness/service.ts';

describe('the start of the service', () => {
  it('is repeated with the missing settings of Node', () => {
    assert.deepEqual(leanStart({ options: ['--import=x'], env: { PATH: '/bin', UNSET: undefined } }), {
      options: ['--import=x', ...leanOptions],
      env: { ...leanEnvironment, PATH: '/bin' },
    });
  });

  it('keeps the settings of Node that the user has set', () => {
    const again = leanStart({
      options: ['--max_semi_space_size=64'],
      env: { NODE_OPTIONS: '--no-warnings --expose-gc', MALLOC_ARENA_MAX: '8' },
    });
    assert.deepEqual(again?.options, ['--max_semi_space_size=64', '--heap-growing-percent=30', '--max-old-space-size-percentage=70']);
    assert.equal(again.env['MALLOC_ARENA_MAX'], '8');
  });

  it('keeps the size of the heap that the user has set in MiB', () => {
    const again = leanStart({ options: [], env: { NODE_OPTIONS: '--max-old-space-size=500' } });
    assert.ok(
      again?.options.every((option) => !option.includes('old-space')),
      String(again?.options),
    );
  });

  it('is not repeated a second time', () => {
    const again = leanStart({ options: [], env: {} });
    assert.ok(again);
    assert.equal(leanStart(again), undefined);
  });

  it('is not repeated if the user disables that', () => assert.equal(leanStart({ options: [], env: { [keepStart]: '1' } }), undefined));
});

test(
  'the service restarts itself with its settings of Node, and keeps its process id',
  { skip: process.platform === 'win32' },
  async (t) => {
    const service = await startService({
      redisUrl: 'redis://127.0.0.1:1',
      roles: 'receive',
      untilReady: false,
      env: { [keepStart]: undefined as unknown as string },
    });
    t.after(() => service.stop());
    const command = execFileSync('ps', ['-o', 'args=', '-p', String(service.pid)], { encoding: 'utf8' });
    for (const option of leanOptions) assert.ok(command.includes(option), command);
    assert.match(command, /main\.[jt]s serve --config .* --roles receive/);
  },
);
