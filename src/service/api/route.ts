/** A route of the API as data: what it takes and answers. Requests are checked, and the OpenAPI document is made, from the same schemas. */
import { z } from 'zod';
import type { Immutable } from '../../core/model/policy-status.ts';
import type { Access } from './access.ts';
import type { ApiPorts } from './ports.ts';

const nothing = z.object({});

/** What a route gets of a request, checked. */
interface Call<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly access: Access;
  readonly ports: ApiPorts;
}

interface Definition<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodObject, A extends z.ZodType> {
  readonly method: 'GET' | 'POST';
  /** Below `/api/v1`, as OpenAPI writes it: `/policies/{namespace}/{name}`. */
  readonly path: string;
  /** Unique; clients that are generated from the document name their function like this. */
  readonly id: string;
  readonly group: RouteGroup;
  readonly summary: string;
  /** What a caller has to know besides; who may call it comes first. */
  readonly about: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly answer: A;
  /** A stream: `handle` returns an async iterable of its text. JSON unless given. */
  readonly media?: 'text/event-stream';
  /** 200 unless given. */
  readonly status?: 200 | 202;
  /** Besides 400, 401, 403, 429 and 503, which every route may answer. */
  readonly errors?: readonly (404 | 409)[];
  readonly handle: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Immutable<z.input<A>>>;
}

/** The sections of the document. */
export const routeGroups = {
  Policies: 'ImagePolicies: what they select, what their workloads run, and why nothing happens.',
  Actions: 'What users ask of a policy.',
  Events: 'The pushes that senders announced, and what became of each.',
  Installation: 'The state of the installation.',
} as const;
export type RouteGroup = keyof typeof routeGroups;

/** A request before it is checked. */
export interface RawCall {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** A route, whatever it takes. */
export interface Route extends Omit<Definition<z.ZodObject, z.ZodObject, z.ZodObject, z.ZodType>, 'handle'> {
  /** Checks the request (throws ZodError), and answers it. */
  readonly run: (raw: RawCall, access: Access, ports: ApiPorts) => Promise<unknown>;
}

/** A route whose answer has a known shape. */
export type RouteOf<A extends z.ZodType> = Route & { readonly answer: A };

/** Defines a route; a request without one of params, query and body has an empty one. */
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

/** Unknown parameters are errors. */
function parse<S extends z.ZodObject>(schema: S | undefined, value: unknown): z.output<S> {
  return (schema === undefined ? z.strictObject({}) : schema.strict()).parse(value ?? {}) as z.output<S>;
}

/** A name in Kubernetes: of a namespace, or of an object. */
export const namespaceName = z.string().regex(/^[a-z0-9-]{1,63}$/, 'is the name of a namespace');
export const objectName = z.string().regex(/^[a-z0-9.-]{1,253}$/, 'is the name of an object');
export const policyParams = z.object({ namespace: namespaceName, name: objectName });
/** RFC 3339. */
export const time = z.iso.datetime();
