/** A route of the API as data: its request and its answer. The same schemas check requests and make the OpenAPI document. */
import { z } from 'zod';
import type { Immutable } from '../../core/model/immutable.ts';
import type { Access } from './access.ts';
import type { ApiPorts } from './ports.ts';

const nothing = z.object({});

/** The checked request that a route gets. */
interface Call<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly access: Access;
  readonly ports: ApiPorts;
}

interface Definition<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodObject, A extends z.ZodType> {
  readonly method: 'GET' | 'POST';
  /** The path below `/api/v1`, as OpenAPI writes it: `/policies/{namespace}/{name}`. */
  readonly path: string;
  /** The unique operation id, which generated clients use as the name of their function. */
  readonly id: string;
  readonly group: RouteGroup;
  readonly summary: string;
  /** The description for callers, which begins with who may call the route. */
  readonly about: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly answer: A;
  /** The media type of a stream, for which `handle` returns an async iterable of its text. JSON unless given. */
  readonly media?: 'text/event-stream';
  /** The status of a successful answer; 200 unless given. */
  readonly status?: 200 | 202;
  /** The error statuses besides 400, 401, 403, 429 and 503, which every route may answer. */
  readonly errors?: readonly (404 | 409)[];
  readonly handle: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Immutable<z.input<A>>>;
}

/** The sections of the OpenAPI document. */
export const routeGroups = {
  Policies: 'ImagePolicies: what they select, what their workloads run, and why nothing happens.',
  Images: 'Where the images of policies run, in which versions, and which places are behind.',
  Bases: 'BaseImagePolicies: the versions of a base, and the images that are built on it.',
  Actions: 'What users ask of a policy.',
  Events: 'The pushes that senders announced, and what became of each.',
  Installation: 'The state of the installation.',
} as const;
export type RouteGroup = keyof typeof routeGroups;

/** A request whose parameters and body are not checked yet. */
export interface RawCall {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** A route with any types of request and answer. */
export interface Route extends Omit<Definition<z.ZodObject, z.ZodObject, z.ZodObject, z.ZodType>, 'handle'> {
  /** Checks the request (throws ZodError), and answers it. */
  readonly run: (raw: RawCall, access: Access, ports: ApiPorts) => Promise<unknown>;
}

/** A route whose answer has a known shape. */
export type RouteOf<A extends z.ZodType> = Route & { readonly answer: A };

/** Defines a route. A route without a schema for params, query or body accepts only empty ones. */
export function defineRoute<
  A extends z.ZodType,
  P extends z.ZodObject = typeof nothing,
  Q extends z.ZodObject = typeof nothing,
  B extends z.ZodObject = typeof nothing,
>(definition: Definition<P, Q, B, A>): RouteOf<A> {
  const { handle, ...route } = definition;
  const { params, query, body } = route;
  return {
    ...route,
    run: (raw, access, ports) =>
      handle({
        params: parse(params, raw.params),
        query: parse(query, raw.query),
        body: parse(body, raw.body),
        access,
        ports,
      }),
  };
}

/** Parses a part of a request. Unknown parameters are errors. */
function parse<S extends z.ZodObject>(schema: S | undefined, value: unknown): z.output<S> {
  return (schema === undefined ? z.strictObject({}) : schema.strict()).parse(value ?? {}) as z.output<S>;
}

/** Schemas of Kubernetes names, of a namespace and of an object. */
export const namespaceName = z.string().regex(/^[a-z0-9-]{1,63}$/, 'is the name of a namespace');
export const objectName = z.string().regex(/^[a-z0-9.-]{1,253}$/, 'is the name of an object');
export const policyParams = z.object({
  namespace: namespaceName.describe('The namespace of the policy.'),
  name: objectName.describe('The name of the policy.'),
});
/** Schema of the name of a policy in a query: `NAMESPACE/NAME`. */
export const policyKeyParam = z
  .string()
  .regex(/^[a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}$/, 'is NAMESPACE/NAME')
  .transform((text) => {
    const [namespace = '', name = ''] = text.split('/');
    return { namespace, name };
  });
/** Schema of a time in a query, in RFC 3339; in ms since 1970. */
export const instantParam = z.iso
  .datetime({ offset: true, error: 'is a time such as 2026-03-01T12:00:00Z' })
  .transform((text) => Date.parse(text));
/** Schema of a label of policies in a query: `KEY=VALUE`. */
export const labelParam = z
  .string()
  .max(400)
  .regex(/^[A-Za-z0-9][\w./-]*=[\w.-]*$/, 'is KEY=VALUE')
  .transform((text) => {
    const [key = '', value = ''] = text.split('=');
    return { key, value };
  });
/** Schema of a digest in a query. */
export const digestParam = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'is sha256: and 64 hexadecimal digits');
/** Schema of the name of a receiver in a query. */
export const receiverParam = z.string().min(1).max(63);
/** Schema of a time in RFC 3339. */
export const time = z.iso.datetime();
/** Schema of the age of an answer that comes from memory. */
export const asOf = time
  .exactOptional()
  .describe('When it was read, if Redis does not answer: what came later is missing. Absent otherwise.');
