import { z } from 'zod';
import { group } from './group.ts';

/** What a policy said as v1alpha1 and v1 has no words for; the conversion writes it. */
const originAnnotation = `${group}/v1alpha1`;
const origin = z.object({ targetNamespace: z.string().min(1) });

/**
 * The other namespace whose workload a policy named as v1alpha1, when nobody had to consent; undefined for all others. Who may write the annotation
 * may as well write the policy as v1alpha1.
 */
export function readFormerNamespace(annotations: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const text = annotations?.[originAnnotation];
  if (typeof text !== 'string') return undefined;
  try {
    return origin.safeParse(JSON.parse(text)).data?.targetNamespace;
  } catch {
    // Not JSON: somebody else's text.
    return undefined;
  }
}
