/** The types of htm as an ES module. Those in the package are of its CommonJS form. */
declare const htm: {
  bind<Tree>(
    create: (type: unknown, props: object | null, ...children: unknown[]) => Tree,
  ): (strings: TemplateStringsArray, ...values: readonly unknown[]) => Tree | Tree[];
};
export default htm;
