/** Signed links to the approval of one image, valid for a limited time. A user who opens one still has to sign in, and needs the right to approve. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { wholeDigest } from './companions.ts';
import type { Notice } from './notice.ts';

/** The content of an approval link. */
export type LinkedApproval = z.output<typeof linkedApproval>;

const linkedApproval = z.object({
  namespace: z.string().max(63),
  name: z.string().max(253),
  /** The uid of the policy. A policy that was deleted and created again has another one. */
  uid: z.string().max(253),
  tag: z.string().max(128),
  digest: z.string().max(136),
  /** The end of validity, in ms since 1970. */
  until: z.number(),
});

/** How long a link can be used. */
const linkLifeMs = 24 * 3_600_000;
/** The maximum length of a link; longer ones are invalid. */
const maxText = 2_048;

/** Signs an approval; `secret` is that of the dashboard's sessions. */
export function signApproval(approval: LinkedApproval, secret: string): string {
  const text = Buffer.from(JSON.stringify(approval)).toString('base64url');
  return `${text}.${macOf(text, secret)}`;
}

/** The link that approves the image of a notice; undefined without a secret, or if the notice names no image by its digest. */
export function linkApproval({ subject, tag, ...image }: Notice, secret: string | undefined, now: number): string | undefined {
  const digest = wholeDigest(image);
  if (secret === undefined || tag === undefined || digest === undefined) return undefined;
  const { namespace = '', name, uid } = subject;
  return signApproval({ namespace, name, uid, tag, digest, until: now + linkLifeMs }, secret);
}

/** Reads a link. Undefined if it was not signed with the secret, or has expired. */
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
