import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatSelector, matchesSelector, type LabelRequirement, type LabelSelector } from '../../../src/core/model/label-selector.ts';

const labels = { app: 'web', tier: 'front', empty: '' };
const expression = (key: string, operator: LabelRequirement['operator'], ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
});

const rows: [selector: LabelSelector, matches: boolean, text: string][] = [
  [{ matchLabels: { app: 'web' } }, true, 'app=web'],
  [{ matchLabels: { app: 'web', tier: 'back' } }, false, 'app=web,tier=back'],
  [{ matchLabels: { missing: '' } }, false, 'missing='],
  [{ matchLabels: { empty: '' } }, true, 'empty='],
  [expression('app', 'In', 'api', 'web'), true, 'app in (api,web)'],
  [expression('app', 'In', 'api'), false, 'app in (api)'],
  [expression('missing', 'In', 'api'), false, 'missing in (api)'],
  [expression('app', 'NotIn', 'api'), true, 'app notin (api)'],
  [expression('app', 'NotIn', 'web'), false, 'app notin (web)'],
  [expression('missing', 'NotIn', 'web'), true, 'missing notin (web)'],
  [expression('empty', 'Exists'), true, 'empty'],
  [expression('missing', 'Exists'), false, 'missing'],
  [expression('missing', 'DoesNotExist'), true, '!missing'],
  [expression('app', 'DoesNotExist'), false, '!app'],
  [{ matchLabels: { app: 'web' }, ...expression('tier', 'In', 'front') }, true, 'app=web,tier in (front)'],
  [{ matchLabels: { app: 'web' }, ...expression('tier', 'NotIn', 'front') }, false, 'app=web,tier notin (front)'],
  [expression('constructor', 'Exists'), false, 'constructor'],
  [{ matchLabels: {} }, false, ''],
];

for (const [selector, matches, text] of rows) {
  test(`the selector "${text}" ${matches ? 'matches' : 'does not match'}`, () => {
    assert.equal(matchesSelector(selector, labels), matches);
    assert.equal(formatSelector(selector), text);
  });
}

test('only a selector for the absence of labels matches an object without labels', () => {
  assert.deepEqual(
    rows.filter(([selector]) => matchesSelector(selector, undefined)).map(([, , text]) => text),
    ['app notin (api)', 'app notin (web)', 'missing notin (web)', '!missing', '!app'],
  );
});
