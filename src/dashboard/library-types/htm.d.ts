/** The types of htm as an ES module. Those in the package are of its CommonJS form. */
declare const htm: {
  bind(
    create: (type: unknown, attributes: Readonly<Record<string, unknown>> | null, ...children: unknown[]) => object,
  ): (strings: TemplateStringsArray, ...values: readonly unknown[]) => unknown;
};
export default htm;
