/** The errors of the API, as problem details. https://www.rfc-editor.org/rfc/rfc9457 */
import { STATUS_CODES } from 'node:http';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { documentation } from '../../core/model/reasons.ts';
import { cut } from '../../core/model/text.ts';

interface Kind {
  readonly status: number;
  /** The situation in which the API answers with this code. */
  readonly about: string;
}

/** The kinds of errors by their code, which stays the same in later versions. Each status has one. */
export const problemKinds = {
  InvalidRequest: { status: 400, about: 'A parameter or the body is not understood.' },
  Unauthenticated: { status: 401, about: 'The caller is not known.' },
  Forbidden: { status: 403, about: 'The caller lacks the permission.' },
  NotFound: { status: 404, about: 'There is no such object, or the caller may not see it.' },
  MethodNotAllowed: { status: 405, about: 'The path has other methods, which `Allow` names.' },
  Conflict: { status: 409, about: 'The state of the object does not allow it.' },
  TooLarge: { status: 413, about: 'The body is too large.' },
  UnsupportedMediaType: { status: 415, about: 'The body is not said to be JSON.' },
  TooManyRequests: { status: 429, about: 'The caller has too many requests under way, or its address sent too many unknown tokens.' },
  Unavailable: { status: 503, about: 'Redis or the API server does not answer, or this process lacks the role.' },
} as const satisfies Readonly<Record<string, Kind>>;
export type ProblemCode = keyof typeof problemKinds;

const codes = Object.keys(problemKinds) as ProblemCode[];

export const problemSchema = z
  .object({
    type: z.literal('about:blank').describe('The kind of error is that of the status. Programs should decide by `code`.'),
    title: z.string().describe('The status in words.'),
    status: z.int().describe('The status of the answer.'),
    detail: z.string().describe('What is wrong, and what to do.'),
    code: z.enum(codes).describe('What kind of error it is, for programs. Later versions may add codes.'),
    docs: z.url().describe('The page that explains the codes.'),
  })
  .meta({ id: 'Problem', description: 'An error.' });

export const problemType = 'application/problem+json';

/** The code of a status. A status without one has that of its class: 400 or 503. */
export function codeOf(status: number): ProblemCode {
  return codes.find((code) => problemKinds[code].status === status) ?? (status < 500 ? 'InvalidRequest' : 'Unavailable');
}

/** The maximum length of the detail of an error, which may repeat what the caller sent. */
const maxDetail = 1_024;

/** The error of a status. `detail`: what is wrong and what to do, for the caller. */
export function toProblem(status: number, detail: string): z.output<typeof problemSchema> {
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: cut(detail, maxDetail),
    code: codeOf(status),
    docs: `${documentation}/operations/api.md#errors`,
  };
}

/** Answers with an error. */
export function sendProblem(reply: FastifyReply, status: number, detail: string): FastifyReply {
  return reply.code(status).type(problemType).send(toProblem(status, detail));
}
