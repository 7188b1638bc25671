/** The file of `image-watcher test`: policies, and cases for them. */
import { z } from 'zod';
import { reasons } from '../../core/model/reasons.ts';
import { describeNoTag, pastImageSchema, tagSchema, timeSchema } from '../backtest/past-schema.ts';

const caseSchema = z.strictObject({
  name: z.string().min(1).max(200).describe('What the case shows, as a sentence.'),
  policy: z.string().min(1).max(400).describe('The policy: NAMESPACE/NAME, or its name if it is the only one of that name.'),
  runs: tagSchema.optional().describe('The tag that runs at the beginning; unless given, the one that the policy would select then.'),
  images: z
    .array(
      z.union([tagSchema, pastImageSchema], {
        error: ({ input }) => (typeof input === 'string' ? describeNoTag(input) : 'a tag in quotes, or {tag, at, …}'),
      }),
    )
    .min(1)
    .max(5_000)
    .describe('The images, of which those without a time are there from the beginning.'),
  at: timeSchema.describe('When the policy is asked.'),
  approved: z.boolean().optional().describe('Whether each image that waits for approval is approved at once.'),
  expect: z
    .strictObject({
      image: tagSchema.optional().describe('The tag that runs then.'),
      selected: tagSchema.optional().describe('The tag that the policy wants to run, though something may hold it.'),
      reason: z
        .enum(Object.keys(reasons) as [string, ...string[]])
        .optional()
        .describe('The reason: Updated, UpToDate, MinAge, Window, …'),
    })
    .refine((expected) => Object.keys(expected).length > 0, 'at least one of image, selected and reason'),
});

export const casesSchema = z.strictObject({
  policies: z.array(z.string().min(1)).min(1).max(100).describe('Files and folders with the policies, relative to this file.'),
  cases: z.array(caseSchema).min(1).max(10_000),
});

export type TestCase = z.output<typeof caseSchema>;
