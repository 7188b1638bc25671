/** Links that lead to the approval of one image, for a time. Whoever follows one still has to sign in, and to have the right to approve. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';

/** What a link approves. */
export type LinkedApproval = z.output<typeof linkedApproval>;

const linkedApproval = z.object({
  namespace: z.string().max(63),
  name: z.string().max(253),
  /** Of the policy: one that was deleted and created again has another. */
  uid: z.string().max(253),
  tag: z.string().max(128),
  digest: z.string().max(136),
  /** In ms since 1970. */
  until: z.number(),
});

/** How long a link can be used. */
export const linkLifeMs = 24 * 3_600_000;
/** Longer texts are not read. */
const maxText = 2_048;

/** Signs it; `secret` is that of the dashboard's sessions. */
export function signApproval(approval: LinkedApproval, secret: string): string {
  const text = Buffer.from(JSON.stringify(approval)).toString('base64url');
  return `${text}.${macOf(text, secret)}`;
}

/** Reads it; undefined if it was not signed with the secret, or is too old. */
export function readApproval(link: string, secret: string, now: number): LinkedApproval | undefined {
  const [text = '', mac = '', ...others] = link.length > maxText ? [] : link.split('.');
  const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(text, secret))];
  if (others.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  try {
    const approval = linkedApproval.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    return approval.until > now ? approval : undefined;
  } catch {
    return undefined;
  }
}

function macOf(text: string, secret: string): string {
  return createHmac('sha256', `image-watcher approval link ${secret}`).update(text).digest('base64url');
}
