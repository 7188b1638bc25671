// Loaded before each test file of `npm test`.
import { after } from 'node:test';
import fc from 'fast-check';

// Property tests try the same values in every run; FAST_CHECK_SEED=random tries others.
const seed = process.env['FAST_CHECK_SEED'] ?? '20261121';
if (seed !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });

// What a file has left open when its tests are over must not hold up the run for ever, and is to be found.
// Servers stop later on a machine that is busy.
const endMs = 180_000;
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  after(() => {
    const fail = () => {
      process.stderr.write(`${process.argv[1]} does not end after its tests; open are: ${process.getActiveResourcesInfo().join(', ')}\n`);
      process.exit(1);
    };
    setTimeout(fail, endMs).unref();
  });
}
