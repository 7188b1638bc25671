import assert from 'node:assert/strict';
import { it } from 'node:test';
import { detail } from '../../src/service/api/policy-view.ts';
import { actionsFor } from '../../src/dashboard/action-list.ts';
import { en } from '../../src/dashboard/texts/en.ts';
import { policyOf } from '../core/model/samples.ts';

const at = '2026-03-01T12:00:00Z';

it('the page of a policy offers the release that the message of its condition asks for', () => {
  for (const reason of ['RetriesExhausted', 'ChangeReverted'] as const) {
    const found = { status: 'True', reason, message: 'release it', lastTransitionTime: at } as const;
    const policy = policyOf({
      status: {
        conditions: [
          { ...found, type: 'Stalled' },
          { ...found, type: 'Ready', status: 'False' },
        ],
      },
    });
    const release = actionsFor(detail(policy), en).find(({ name }) => name === 'release');
    assert.equal(release?.isPossible, true, reason);
  }
});
