import ts from "typescript";

/** One planted fault: a place in a file, and what stands there instead. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  /** The line as it stands, so that a mutant is found again when lines move. */
  readonly text: string;
  /** What is put in place of what, on one line. */
  readonly change: string;
}

/** A file's mutants, and the file with all of them in it: `__mutant(n)` tells whether the nth is on. */
export interface Mutated {
  readonly mutants: readonly Mutant[];
  readonly code: string;
}

interface Swap {
  readonly replacement: string;
  /** A statement is left out, an expression gives way to another. */
  readonly isStatement?: boolean;
}

/** The other operators that a mutant puts in an operator's place. */
const operators: ReadonlyMap<string, readonly string[]> = new Map([
  ["<", ["<=", ">="]],
  ["<=", ["<", ">"]],
  [">", [">=", "<="]],
  [">=", [">", "<"]],
  ["===", ["!=="]],
  ["!==", ["==="]],
  ["+", ["-"]],
  ["-", ["+"]],
  ["*", ["/"]],
  ["/", ["*"]],
  ["%", ["*"]],
  ["**", ["*"]],
  ["&&", ["||"]],
  ["||", ["&&"]],
  ["+=", ["-="]],
  ["-=", ["+="]],
  ["||=", ["="]],
  ["&&=", ["="]],
  ["??=", ["="]],
]);

/** Methods that have an opposite. */
const opposites: ReadonlyMap<string, string> = new Map([
  ["min", "max"],
  ["max", "min"],
  ["ceil", "floor"],
  ["floor", "ceil"],
  ["some", "every"],
  ["every", "some"],
]);

/** Methods that can be left out, so that their receiver stands for their answer. */
const leftOut = new Set(["filter", "slice", "trim", "toLowerCase", "sort", "reverse"]);

const isText = (node: ts.Expression): boolean =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

const ofBinary = (node: ts.BinaryExpression): string[] => {
  const [left, operator, right] = [node.left.getText(), node.operatorToken.getText(), node.right.getText()];
  if (operator === "??") return [left, right];
  if (operator === "+" && (isText(node.left) || isText(node.right))) return [];
  return (operators.get(operator) ?? []).map((other) => `${left} ${other} ${right}`);
};

const ofNumber = (node: ts.NumericLiteral): string[] => {
  const value = Number(node.getText().replaceAll("_", ""));
  return [String(value === 1 ? 0 : value + 1)];
};

const ofUnary = (node: ts.PrefixUnaryExpression | ts.PostfixUnaryExpression): string[] => {
  const operand = node.operand.getText();
  if (node.operator === ts.SyntaxKind.PlusPlusToken) return [`${operand} -= 1`];
  if (node.operator === ts.SyntaxKind.MinusMinusToken) return [`${operand} += 1`];
  return [operand];
};

const ofCall = (node: ts.CallExpression): string[] => {
  if (!ts.isPropertyAccessExpression(node.expression) || ts.isOptionalChain(node)) return [];
  const receiver = node.expression.expression.getText();
  const method = node.expression.name.text;
  const given = node.arguments.map((argument) => argument.getText()).join(", ");
  const opposite = opposites.get(method);
  if (opposite !== undefined) return [`${receiver}.${opposite}(${given})`];
  return leftOut.has(method) ? [receiver] : [];
};

/** Each `?.` of a chain as a plain dot; asked of the whole chain only, because a part of it cannot stand alone. */
const ofChain = (chain: ts.Expression): string[] => {
  const found: string[] = [];
  const text = chain.getText();
  let link: ts.Expression = chain;
  while (
    ts.isPropertyAccessExpression(link) ||
    ts.isElementAccessExpression(link) ||
    ts.isCallExpression(link)
  ) {
    const token = link.questionDotToken;
    if (token !== undefined) {
      const at = token.getStart() - chain.getStart();
      found.push(text.slice(0, at) + (ts.isPropertyAccessExpression(link) ? "." : "") + text.slice(at + 2));
    }
    link = link.expression;
  }
  return found;
};

const isChainPart = (node: ts.Node): boolean =>
  ts.isOptionalChain(node.parent) && node.parent.expression === node;

const isAssigned = (node: ts.Node): boolean =>
  ts.isBinaryExpression(node.parent) &&
  node.parent.left === node &&
  node.parent.operatorToken.kind === ts.SyntaxKind.EqualsToken;

// Its operator is turned round already, which says as much and takes half the time.
const isTurned = (node: ts.Expression): boolean =>
  ts.isPrefixUnaryExpression(node) ||
  (ts.isBinaryExpression(node) && operators.has(node.operatorToken.getText()));

const ofCondition = (node: ts.Expression): string[] => {
  const { parent } = node;
  if (isTurned(node)) return [];
  if (ts.isIfStatement(parent) && parent.expression === node) return ["true", "false"];
  if (ts.isConditionalExpression(parent) && parent.condition === node) return ["true", "false"];
  const isLoop = ts.isWhileStatement(parent) || ts.isDoStatement(parent);
  if (isLoop && parent.expression === node) return ["false"];
  return ts.isForStatement(parent) && parent.condition === node ? ["false"] : [];
};

const ofExpression = (node: ts.Expression): string[] => {
  if (ts.isBinaryExpression(node)) return ofBinary(node);
  if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) return ofUnary(node);
  if (ts.isNumericLiteral(node)) return ofNumber(node);
  if (node.kind === ts.SyntaxKind.TrueKeyword) return ["false"];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return ["true"];
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0 && !isAssigned(node)) return ["[]"];
  if (ts.isOptionalChain(node)) return ofChain(node);
  return ts.isCallExpression(node) ? ofCall(node) : [];
};

const isLeftOut = (node: ts.Node): boolean => {
  if (ts.isExpressionStatement(node)) {
    const { expression } = node;
    return !(ts.isCallExpression(expression) && expression.expression.kind === ts.SyntaxKind.SuperKeyword);
  }
  return (
    // What leaves out one with a value, the compiler refuses.
    (ts.isReturnStatement(node) && node.expression === undefined) ||
    ts.isThrowStatement(node) ||
    ts.isBreakStatement(node) ||
    ts.isContinueStatement(node)
  );
};

const isName = (node: ts.Node): boolean =>
  "name" in node.parent && node.parent.name === node && !ts.isPropertyAccessExpression(node.parent);

const swapsOf = (node: ts.Node): readonly Swap[] => {
  if (isLeftOut(node)) return [{ replacement: "", isStatement: true }];
  if (!ts.isExpression(node) || isName(node) || isChainPart(node)) return [];
  const all = [...ofCondition(node), ...ofExpression(node)];
  return [...new Set(all)]
    .filter((replacement) => replacement !== node.getText())
    .map((replacement) => ({ replacement }));
};

const shortest = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** Plants every fault there is for this file. `first` is the number of its first mutant. */
export const mutate = (file: string, source: string, first = 0): Mutated => {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.ES2022, true);
  const lines = source.split("\n");
  const mutants: Mutant[] = [];

  const inner = (node: ts.Node): string => {
    let text = "";
    let at = node.getStart();
    ts.forEachChild(node, (child) => {
      const start = child.getStart();
      if (start < at) return;
      text += source.slice(at, start) + render(child);
      at = child.getEnd();
    });
    return text + source.slice(at, node.getEnd());
  };

  const render = (node: ts.Node): string => {
    const isType = ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
    if (isType || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.getText();
    const line = tree.getLineAndCharacterOfPosition(node.getStart()).line;
    const swaps = swapsOf(node).map((swap) => {
      const left = shortest(node.getText());
      const change = swap.isStatement ? `left out: ${left}` : `${left} → ${shortest(swap.replacement)}`;
      mutants.push({ file, line: line + 1, text: (lines[line] ?? "").trim(), change });
      return { ...swap, isOn: `__mutant(${first + mutants.length - 1})` };
    });
    const text = inner(node);
    if (swaps.length === 0) return text;
    if (swaps[0]?.isStatement) return `{if(!${swaps[0].isOn}){${text}}}`;
    return `(${swaps.map(({ isOn, replacement }) => `${isOn}?(${replacement}):`).join("")}(${text}))`;
  };

  return { code: inner(tree), mutants };
};

/** The file with one mutant in it and nothing else, for a compiler to read. */
export const onlyMutant = (file: string, source: string, wanted: Mutant): string => {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.ES2022, true);
  let found = source;
  const visit = (node: ts.Node): void => {
    const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    const isType = ts.isTypeNode(node);
    if (!isType && line === wanted.line)
      for (const { replacement, isStatement } of swapsOf(node)) {
        const left = shortest(node.getText());
        const change = isStatement ? `left out: ${left}` : `${left} → ${shortest(replacement)}`;
        const middle = isStatement ? ";" : `(${replacement})`;
        if (change === wanted.change)
          found = source.slice(0, node.getStart()) + middle + source.slice(node.getEnd());
      }
    if (!isType) ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
};
