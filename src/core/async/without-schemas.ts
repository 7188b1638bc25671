/** No route of ours has a JSON schema for Fastify: requests are checked by zod, where they are read. */
function compileNothing(): never {
  throw new Error('no route has a schema for Fastify');
}

/**
 * The option `schemaController` of Fastify without its compilers of schemas, 350 kB of code that would be loaded at each start.
 * https://fastify.dev/docs/latest/Reference/Server/#schemacontroller
 */
export const withoutSchemas = { compilersFactory: { buildValidator: compileNothing, buildSerializer: compileNothing } } as const;
