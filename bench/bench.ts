/**
 * `npm run bench [-- ROW…]`: measures all rows of the table (or some) against the floor; when it measured all, it writes docs/benchmarks.md.
 * `--quick`: only that it works. `--profile FOLDER`: CPU profiles of the product.
 * `npm run bench -- convert|fuzz|poll [OPTION…]`: the benchmarks of single parts, with their own options.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare } from '../test/harness/prepare.ts';
import { measure } from './measure.ts';
import { describeMachine } from './report/machine.ts';
import { formatReport, formatRow, type Measured } from './report/markdown.ts';
import { rows } from './rows/index.ts';

const programs: Readonly<Record<string, () => Promise<unknown>>> = {
  convert: () => import('./convert.ts'),
  fuzz: () => import('./fuzz.ts'),
  poll: () => import('./poll.ts'),
};

const [first = ''] = process.argv.slice(2);
const program = programs[first];
if (program === undefined) await measureRows();
else {
  process.argv.splice(2, 1);
  await program();
}

async function measureRows(): Promise<void> {
  const options = { quick: { type: 'boolean', default: false }, profile: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const ids = rows.map(({ id }) => id);
  const unknown = positionals.filter((id) => !ids.includes(id));
  if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: there are ${[...ids, ...Object.keys(programs)].join(', ')}`);
  await prepare();
  const measured: Measured[] = [];
  for (const row of rows) {
    if (positionals.length > 0 && !positionals.includes(row.id)) continue;
    const one = await measure(row, values.quick, values);
    console.log(formatRow(one, false));
    measured.push(one);
  }
  if (measured.some(({ result }) => 'failed' in result)) process.exitCode = 1;
  if (positionals.length > 0 || values.quick) return;
  const file = join(import.meta.dirname, '../docs/benchmarks.md');
  writeFileSync(file, formatReport(await describeMachine(), new Date().toISOString().slice(0, 10), measured));
  console.log(`written: ${file}`);
}
