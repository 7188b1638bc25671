import { describeError } from '../src/core/model/errors.ts';
import type { Measured } from './report/markdown.ts';
import type { Row } from './rows/row.ts';
import { startBenchWorld, type WorldOptions } from './world/world.ts';

/** Measures a row in a world of its own; what goes wrong is its result. */
export async function measure(row: Row, quick: boolean, options: WorldOptions = {}): Promise<Measured> {
  const start = performance.now();
  const world = await startBenchWorld(options);
  try {
    const result = await row.run(world, quick);
    return { row, result, seconds: (performance.now() - start) / 1_000 };
  } catch (error) {
    return { row, result: { failed: describeError(error) }, seconds: (performance.now() - start) / 1_000 };
  } finally {
    await world.stop();
  }
}
