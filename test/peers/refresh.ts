// node test/peers/refresh.ts: takes what is no longer different off the lists, writes down changed answers, and prints what is new: that needs a reason.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { families } from './families/index.ts';
import { findDifferences, readCases, readDifferences } from './family.ts';

for (const family of families) {
  const found = await findDifferences(family, readCases(family.id));
  const listed = readDifferences(family.id);
  const kept = listed
    .map((difference) => {
      const ids = Object.keys(difference.cases).filter((id) => found.has(id));
      return { ...difference, cases: Object.fromEntries(ids.map((id) => [id, found.get(id)])) };
    })
    .filter(({ cases }) => Object.keys(cases).length > 0);
  writeFileSync(join(import.meta.dirname, 'differences', `${family.id}.json`), `${JSON.stringify(kept, undefined, 2)}\n`);
  for (const [id, ours] of found)
    if (!listed.some(({ cases }) => Object.hasOwn(cases, id)))
      process.stdout.write(`${family.id}: new: ${JSON.stringify(id)}: ${JSON.stringify(ours)}\n`);
}
