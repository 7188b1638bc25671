/** Who may write the approvals of several people, and the name of who last changed a policy; a part of policy-rights.test.ts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeRequest } from '../harness/kube-request.ts';

interface Rights {
  readonly namespace: string;
  readonly people: readonly string[];
  /** The requests of each person; filled before the tests. */
  readonly as: Readonly<Record<string, KubeRequest>>;
  readonly whoMay: (method: string, where: string, body?: object) => Promise<readonly string[]>;
  readonly policy: (name: string, more?: object) => object;
  readonly path: string;
}

/** The tests, on the policy `web`. */
export function describeApprovals({ namespace, people, as, whoMay, policy, path }: Rights): void {
  describe('the approvals of several people', () => {
    const web = `${path}/web`;
    const suspend = { spec: { suspend: true } };
    const nameOf = (person: string) => `system:serviceaccount:${namespace}:${person}`;
    const digest = `sha256:${'a'.repeat(64)}`;
    const as1 = (user: string, more = '') => `1.0.0@${digest} 2026-03-01T12:00:00Z ${user}${more}`;
    const approval = (value: string | null, key = 'any') => ({
      metadata: { annotations: { [`approvals.operator.technomad.dev/${key}`]: value } },
    });
    const rows: [about: string, value: string, wanted: string[]][] = [
      ['the own name', as1(nameOf('approver')), ['approver']],
      ['the own name, and a reason', as1(nameOf('approver'), '\ntested on staging'), ['approver']],
      ['a right that is missing', as1(nameOf('developer')), []],
      ['somebody else', as1('ada'), []],
      ['somebody else, and the own name in the reason', as1('ada', `\n1 2 ${nameOf('approver')}`), []],
      ['the own name at the end of another', as1(`ada ${nameOf('approver')}`), []],
      ['nothing but the own name', nameOf('approver'), []],
    ];
    for (const [about, value, wanted] of rows)
      it(`are accepted from ${wanted.join() || 'nobody'} with ${about}, in a change and in a new policy`, async () => {
        assert.deepEqual(await whoMay('PATCH', web, approval(value)), wanted);
        const owned = policy('new', approval(value).metadata);
        assert.deepEqual(
          await whoMay('POST', path, owned),
          wanted.filter((one) => one !== 'approver'),
        );
      });

    it('may be kept and withdrawn by all who may write the policy, but are added by nobody else', async () => {
      const value = as1(nameOf('approver'));
      await as['approver']?.('PATCH', web, approval(value));
      assert.deepEqual(await whoMay('PATCH', web, suspend), ['developer', 'owner', 'gitops']);
      assert.deepEqual(await whoMay('PATCH', web, approval(value, 'copied')), ['approver']);
      assert.deepEqual(await whoMay('PATCH', web, approval(`${value}\nand more`)), ['approver']);
      assert.deepEqual(await whoMay('PATCH', web, approval(null)), ['developer', 'owner', 'approver', 'gitops']);
      await as['approver']?.('PATCH', web, approval(null));
      assert.deepEqual(await whoMay('PATCH', web, approval(value)), ['approver']);
    });

    it('demand a record of who last changed the policy, which nobody can change or remove for somebody else', async () => {
      const asksForAuthor = { update: { mode: 'Approval', approvals: { count: 2, notByAuthor: true } } };
      const edited = (user: string | null, spec: object = {}) => ({
        metadata: { annotations: { 'operator.technomad.dev/last-edited-by': user } },
        spec,
      });
      assert.deepEqual(await whoMay('PATCH', web, { spec: asksForAuthor }), []);
      assert.deepEqual(await whoMay('PATCH', web, edited(nameOf('owner'), asksForAuthor)), ['owner']);
      await as['owner']?.('PATCH', web, edited(nameOf('owner'), asksForAuthor));
      // Whoever changes the spec takes the place of the author; nobody else does, and the author does not leave it.
      assert.deepEqual(await whoMay('PATCH', web, edited(nameOf('developer'), { suspend: true })), ['developer']);
      for (const user of [null, ...people.map(nameOf)])
        assert.deepEqual(
          await whoMay('PATCH', web, edited(user)),
          user === nameOf('owner') ? ['developer', 'owner', 'approver', 'gitops'] : [],
          String(user),
        );
      assert.deepEqual(await whoMay('PATCH', web, { spec: { update: null } }), ['owner']);
      assert.deepEqual(await whoMay('PATCH', web, approval(as1(nameOf('approver')))), ['approver']);
      await as['owner']?.('PATCH', web, edited(nameOf('owner'), { update: null }));
      await as['owner']?.('PATCH', web, edited(null));
    });
  });
}
