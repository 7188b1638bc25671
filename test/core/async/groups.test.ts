import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createGroups } from '../../../src/core/async/groups.ts';

interface Named {
  readonly name: string;
  readonly version: number;
}

test('groups are like Maps of Maps, whatever is added and removed', () => {
  const key = fc.constantFrom('a', 'b');
  const name = fc.constantFrom('x', 'y', 'z');
  const step = fc.oneof(fc.record({ key, add: fc.record({ name, version: fc.nat(9) }) }), fc.record({ key, remove: name }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const groups = createGroups<Named>(({ name }) => name);
      const model = new Map([
        ['a', new Map<string, Named>()],
        ['b', new Map<string, Named>()],
      ]);
      for (const step of steps) {
        if ('add' in step) {
          groups.set(step.key, step.add);
          model.get(step.key)?.set(step.add.name, step.add);
        } else {
          groups.remove(step.key, step.remove);
          model.get(step.key)?.delete(step.remove);
        }
        for (const [key, wanted] of model) {
          const { size, values } = { size: groups.get(key).size, values: [...groups.get(key).values()] };
          assert.equal(size, wanted.size);
          assert.deepEqual(values.toSorted(byName), [...wanted.values()].toSorted(byName));
        }
      }
    }),
  );
});

function byName(a: Named, b: Named): number {
  return a.name < b.name ? -1 : 1;
}
