/** Every view of sixty policies in all states says what the cluster says, and goes on to do so whatever happens. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { waitFor } from '../harness/wait-for.ts';
import { createChance, findDifferences, makePolicies } from './agreement.ts';
import { startScene, type Scene, type Subject } from './scene.ts';

const count = 60;
const happenings = 40;
const seed = 1;

describe('kubectl, commands, API, dashboard, Events, metrics and records', () => {
  let scene: Scene;
  let subjects: readonly Subject[];
  before(async () => {
    scene = await startScene();
    subjects = await makePolicies(scene, count);
  });
  after(() => scene.stop());

  const waitForAgreement = (what: string, closely: readonly Subject[]) =>
    waitFor(`all to say the same ${what}`, async () => {
      assert.deepEqual(await findDifferences(scene, subjects, closely), []);
      return true;
    });

  it('say the same of policies in every state', async () => {
    await waitForAgreement('of every state', subjects);
  });

  it('say the same of a policy after each random change to the cluster', async () => {
    const next = createChance(scene, subjects, seed);
    for (let done = 0; done < happenings; done++) {
      const { what, subject } = await next();
      await waitForAgreement(`of ${subject.name} after: ${what}`, [subject]);
    }
  });
});
