/** What is measured, by one command: `npm run bench -- --help`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare } from '../test/harness/prepare.ts';
import { measure } from './measure.ts';
import { describeMachine } from './report/machine.ts';
import { formatReport, formatRow, type Measured, updateReport } from './report/markdown.ts';
import { rows } from './rows/index.ts';

/** Measured by themselves, with options of their own. */
const programs: Readonly<Record<string, { readonly what: string; readonly run: () => Promise<unknown> }>> = {
  convert: { what: 'how long conversions between the versions of a policy take', run: () => import('./convert.ts') },
  faults: { what: 'the fault suite in its long form; --seed N repeats a run', run: () => import('./faults.ts') },
  fuzz: { what: 'nonsense for every provider, for some minutes', run: () => import('./fuzz.ts') },
  'hundred-thousand': { what: 'a service with up to 100,000 policies; --sizes, --simulate', run: () => import('./hundred-thousand.ts') },
  poll: { what: 'what a tick of the poll costs with 10,000 policies', run: () => import('./poll.ts') },
  traces: { what: 'what traces cost: the same pushes with and without', run: () => import('./traces.ts') },
};

const help = `npm run bench [-- ROW…] [--quick | --write] [--profile FOLDER]

Measures the product beside the floor, a bare script that does only what the job needs, in turns and on the same servers.
All rows together write docs/benchmarks.md, and pictures and raw numbers beside it.

${rows.map(({ id, title }) => `  ${id.padEnd(10)} ${title}`).join('\n')}

  --quick    only shows that it works: the numbers say nothing
  --write    writes the parts that are named into docs/benchmarks.md, beside the others
  --profile  a folder for CPU profiles of the product

npm run bench -- PROGRAM [OPTION…]

${Object.entries(programs)
  .map(([name, { what }]) => `  ${name.padEnd(10)} ${what}`)
  .join('\n')}
`;

const [first = ''] = process.argv.slice(2);
const program = programs[first];
if (first === '--help') console.log(help);
else if (program === undefined) await measureRows();
else {
  process.argv.splice(2, 1);
  await program.run();
}

async function measureRows(): Promise<void> {
  const options = {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    profile: { type: 'string' },
  } as const;
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const ids = rows.map(({ id }) => id);
  const unknown = positionals.filter((id) => !ids.includes(id));
  if (unknown.length > 0) {
    console.error(`There is no ${unknown.join(', ')}.\n\n${help}`);
    process.exitCode = 2;
    return;
  }
  await prepare();
  const measured: Measured[] = [];
  for (const row of rows) {
    if (positionals.length > 0 && !positionals.includes(row.id)) continue;
    const one = await measure(row, values.quick, values);
    console.log(formatRow(one));
    measured.push(one);
  }
  if (measured.some(({ result }) => 'failed' in result)) process.exitCode = 1;
  if (values.quick || (positionals.length > 0 && !values.write)) return;
  const folder = join(import.meta.dirname, '../docs/benchmarks');
  const [machine, date] = [await describeMachine(), new Date().toISOString().slice(0, 10)];
  const before = readFileSync(join(folder, '../benchmarks.md'), 'utf8');
  const { page, files } =
    positionals.length === 0 ? formatReport(machine, date, measured) : updateReport(before, machine, date, measured, ids);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of [['../benchmarks.md', page] as const, ...files]) {
    writeFileSync(join(folder, name), text);
    console.log(`written: ${join(folder, name)}`);
  }
}
