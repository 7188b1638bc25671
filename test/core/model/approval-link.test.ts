/** Links that approve one image, for a time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linkApproval, readApproval, signApproval } from '../../../src/core/model/approval-link.ts';

const secret = 'a secret of the dashboard';
const now = Date.parse('2026-11-23T12:00:00Z');
const approval = { namespace: 'shop', name: 'web', uid: 'u1', tag: '1.4.2', digest: `sha256:${'a'.repeat(64)}`, until: now + 1_000 };
const link = signApproval(approval, secret);
const [text = '', mac = ''] = link.split('.');

describe('an approval link', () => {
  it('is read as it was signed, and fits into an address', () => {
    assert.deepEqual(readApproval(link, secret, now), approval);
    assert.equal(encodeURIComponent(link), link);
  });

  const other = Buffer.from(JSON.stringify({ ...approval, tag: '6.6.6' })).toString('base64url');
  for (const [name, changed] of Object.entries({
    'another image': `${other}.${mac}`,
    'no signature': text,
    'an empty signature': `${text}.`,
    'a signature of another secret': signApproval(approval, 'another secret'),
    'a signature that is cut off': link.slice(0, -1),
    'something behind it': `${link}.x`,
    nothing: '',
    'a long text': 'x'.repeat(100_000),
    'what is no approval': signApproval({ ...approval, until: 'never' as never }, secret),
  }))
    it(`is not read with ${name}`, () => assert.equal(readApproval(changed, secret, now), undefined));

  it('is not read when it has expired', () => assert.equal(readApproval(link, secret, now + 1_000), undefined));

  it('is valid for a day, is made only from a notice with a digest, and approves the digest of the set if there is one', () => {
    const { namespace, name, uid, tag, digest } = approval;
    const subject = { kind: 'ImagePolicy', namespace, name, uid } as const;
    const bare = { kind: 'ApprovalRequired', subject, at: '2026-11-23T12:00:00Z', tag } as const;
    const notice = { ...bare, digest };
    const read = (given: Parameters<typeof linkApproval>[0]) => readApproval(linkApproval(given, secret, now) ?? '', secret, now);
    assert.deepEqual(read(notice), { ...approval, until: now + 24 * 3_600_000 });
    const setDigest = `sha256:${'b'.repeat(64)}`;
    assert.equal(read({ ...notice, setDigest })?.digest, setDigest);
    assert.equal(linkApproval(bare, secret, now), undefined);
    assert.equal(linkApproval(notice, undefined, now), undefined);
  });
});
