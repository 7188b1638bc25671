/** Long lines on a terminal, and in a pipe. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fit } from '../../../src/service/command-line/output.ts';
import { condition, startCliWorld, statusOf, type CliWorld } from '../../cli/cluster-world.ts';
import { runCommand } from '../../cli/run-command.ts';

it('lines are wrapped between words with their own indentation, and words are never broken', () => {
  const image = `harbor.example.com/${'a-long-path/'.repeat(8)}web:1.4.0`;
  const text = `short\n  c0 would be changed from ${image} to something else\n    window           waits: Window: nothing opens before Monday\n`;
  assert.equal(
    fit(text, { columns: 40 }),
    `short\n  c0 would be changed from\n    ${image}\n    to something else\n    window           waits: Window:\n      nothing opens before Monday\n`,
  );
  for (const columns of [undefined, 0, 1_000]) assert.equal(fit(text, { columns }), text, 'no terminal, one without a width, a wide one');
});

describe('the output of', () => {
  let world: CliWorld;
  const message = 'kubectl changed the image of the container c0 by hand, and it stays until there is something newer to apply';
  before(async () => {
    world = await startCliWorld();
    await world.create('web');
    await world.deploy('web', 'harbor.example.com/shop/web:1.4.0');
    const status = statusOf(
      world,
      'web',
      { runs: '1.4.0', latest: '1.5.0' },
      condition('Ready', 'True', 'Held'),
      condition('Held', 'True', 'Held', message),
    );
    await world.report('web', status);
    await world.create('other', {
      targets: [{ kind: 'Deployment', selector: { matchLabels: { app: 'a-workload-that-is-not-there-at-all-in-this-namespace' } } }],
    });
    await world.report('other', statusOf(world, 'other', { runs: '1.4.0', latest: '1.5.0' }));
  });
  after(() => world.stop());

  for (const [command, ...args] of [
    ['get'],
    ['get', 'web'],
    ['explain', 'web'],
    ['explain', 'other'],
    ['diff'],
    ['check', 'web', '--timeout', '0s'],
    ['doctor'],
  ] as const)
    it(`${command} ${args.join(' ')} fits the terminal, and is one line for each item in a pipe`, async () => {
      const run = (terminal: { columns?: number }) =>
        runCommand(
          command,
          [...args, '--kubeconfig', world.kubeconfig, ...(command === 'doctor' ? ['--server', 'http://127.0.0.1:1', '--insecure'] : [])],
          terminal,
        );
      const piped = await run({});
      for (const columns of [80, 120]) {
        const { out, code } = await run({ columns });
        assert.equal(code, piped.code);
        const wide = out.split('\n').filter(
          (line) =>
            line.length > columns &&
            line
              .trim()
              .replace(/^(?:#|see) /, '')
              .includes(' '),
        );
        assert.deepEqual(wide, [], out);
        const words = (text: string) => text.split(/\s+|(?:^|\n)# +/).filter((word) => word !== '' && word !== '#');
        const isTime = (word: string) => /^\d+(?:\.\d+)?s?$|^\(\d+$/.test(word);
        if (command !== 'doctor')
          assert.deepEqual(
            words(out).filter((word) => !isTime(word)),
            words(piped.out).filter((word) => !isTime(word)),
          );
      }
      assert.equal(/\n {6}/.test(piped.out) && command === 'doctor', false);
    });
});
