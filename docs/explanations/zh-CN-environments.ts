/** The Chinese texts about policies that follow others; zh-CN.ts has those of all kinds. */
export const chineseEnvironments: Readonly<Record<string, string>> = {
  'Production runs what staging has run for half an hour, complete and available: the same digest, whatever its tag. The policy of staging needs update.pin: Digest, and the annotation operator.technomad.dev/allow-policies-from on it, or on its Namespace.':
    '生产环境运行预发布环境以完整且可用的状态运行了半小时的镜像：同一个摘要，无论标签是什么。预发布环境的策略需要 update.pin: Digest，并且它或它的 Namespace 上需要注解 operator.technomad.dev/allow-policies-from。',
  'Selects for itself, and waits until the policies of two other environments have run the selected image for an hour.':
    '自己选择镜像，并等待另外两个环境的策略已运行所选镜像一小时。',
  'select.proven selects images by what other policies run: remove tags, artifact, alongside and update.after':
    'select.proven 按其他策略运行的镜像来选择：请去掉 tags、artifact、alongside 和 update.after',
  'a tag may move to an image that nobody has run: with select.proven and update.after, remove pin, or write Digest':
    '标签可能移动到没有人运行过的镜像：与 select.proven 和 update.after 一起使用时，请去掉 pin，或写成 Digest',
  'The image that other policies run, by its digest, whatever its tag is: the one that all their workloads have run, complete and available, for some time. For production, after staging.':
    '其他策略运行的镜像，以摘要为准，无论标签是什么：它们的所有工作负载以完整且可用的状态运行了一段时间的那个镜像。用于预发布之后的生产环境。',
  'Policies that have to run the selected image before this one applies it. With select.proven, it is written there instead.':
    '在本策略应用所选镜像之前必须先运行它的策略。使用 select.proven 时，改在那里书写。',
  'Those policies: all of them have to run the image. They need update.pin: Digest.':
    '这些策略：它们全部都必须运行该镜像。它们需要 update.pin: Digest。',
  'Name of the ImagePolicy.': 'ImagePolicy 的名称。',
  'Namespace of the ImagePolicy; by default that of this policy. Another namespace has to consent.':
    'ImagePolicy 的命名空间；默认为本策略的命名空间。其他命名空间必须同意。',
  'For how long all their workloads have to run it, complete and available; by default they only have to run it now. A duration in h, m and s, at most 8784h: "90s", "1h30m".':
    '它们的所有工作负载必须以完整且可用的状态运行多久；默认只需现在正在运行。时长以 h、m、s 书写，最多 8784h："90s"、"1h30m"。',
  'The image that all targets run, complete and available; only of policies that another one follows.':
    '所有目标以完整且可用的状态运行的镜像；只有被其他策略跟随的策略才有。',
  'The tag with which it was applied, if that is known.': '应用它时的标签，如果已知。',
  'Its digest.': '它的摘要。',
  'Since when all of them have run it without an interruption, by the clock of the API server.':
    '它们从何时起不间断地运行它，以 API server 的时钟为准。',
  'The followed policies, as they were seen last.': '被跟随的策略，为最后一次看到的状态。',
  'Namespace of the followed policy.': '被跟随的策略的命名空间。',
  'Name of the followed policy.': '被跟随的策略的名称。',
  'The tag of the image that it runs, if that is known.': '它运行的镜像的标签，如果已知。',
  'The digest that its targets run, complete and available; absent if there is none.':
    '它的目标以完整且可用的状态运行的摘要；没有时不存在。',
  'Since when they have run it without an interruption.': '它们从何时起不间断地运行它。',
  'Why it does not show an image.': '它为何没有显示镜像。',
};
