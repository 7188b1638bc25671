import { z } from 'zod';

/** metav1.Condition; the same in every version. */
export const condition = z
  .object({
    type: z.string().max(316).describe('Ready, Reconciling or Stalled, and others while they are true.'),
    status: z.enum(['True', 'False', 'Unknown']).describe('Whether the condition holds.'),
    reason: z.string().max(1024).describe('A stable word for programs.'),
    message: z.string().max(32_768).describe('A sentence for people: what is the case and what to do.'),
    lastTransitionTime: z.iso.datetime().describe('When the status of the condition changed last.'),
    observedGeneration: z.int().min(0).optional().describe('The generation of the policy that the condition speaks of.'),
  })
  .describe('One aspect of the state of the policy.');
