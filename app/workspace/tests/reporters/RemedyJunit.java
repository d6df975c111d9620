// Compiles the Java files below the current folder, runs their JUnit 4 tests and writes one line for each of them.
// Arguments: report file, folder for classes, then class names; no class name means all classes that hold tests.
import java.io.File;
import java.io.PrintStream;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

public class RemedyJunit {
    static Path report;
    static int lines = 0;

    static void write(String line) throws Exception {
        lines++;
        byte[] data = (line + "\n").getBytes(StandardCharsets.UTF_8);
        Files.write(report, data, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char sign : (text == null ? "" : text).toCharArray()) {
            if (sign == '"' || sign == '\\') out.append('\\').append(sign);
            else if (sign < ' ') out.append(String.format("\\u%04x", (int) sign));
            else out.append(sign);
        }
        return out.append('"').toString();
    }

    static void say(String id, String outcome, String detail) throws Exception {
        String end = detail.length() > 3000 ? detail.substring(detail.length() - 3000) : detail;
        write("{\"id\": " + quoted(id) + ", \"outcome\": " + quoted(outcome) + ", \"detail\": " + quoted(end) + "}");
    }

    static String idOf(Description test) {
        return test.getMethodName() == null ? test.getClassName() : test.getClassName() + "#" + test.getMethodName();
    }

    static class Listener extends RunListener {
        final Set<String> told = new HashSet<>();

        public void testFailure(Failure failure) throws Exception {
            Description test = failure.getDescription();
            told.add(idOf(test));
            say(idOf(test), test.isTest() ? "failed" : "error", String.valueOf(failure.getTrace()));
        }

        public void testAssumptionFailure(Failure failure) {
            try {
                told.add(idOf(failure.getDescription()));
                say(idOf(failure.getDescription()), "skipped", "");
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }

        public void testIgnored(Description test) throws Exception {
            List<Description> inside = test.isTest() ? List.of(test) : test.getChildren();
            for (Description one : inside.isEmpty() ? List.of(test) : inside) say(idOf(one), "skipped", "");
        }

        public void testFinished(Description test) throws Exception {
            if (told.add(idOf(test))) say(idOf(test), "passed", "");
        }
    }

    public static void main(String[] args) throws Exception {
        report = Paths.get(args[0]);
        Path classes = Paths.get(args[1]);
        Files.createDirectories(classes);
        List<Path> sources;
        try (Stream<Path> all = Files.walk(Paths.get("."))) {
            sources = all.filter(path -> path.toString().endsWith(".java")).sorted().collect(Collectors.toList());
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> options = new ArrayList<>(Arrays.asList("-proc:none", "-nowarn", "-d", classes.toString(), "-cp", System.getProperty("java.class.path")));
        StringWriter said = new StringWriter();
        boolean compiled;
        try (var files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            compiled = compiler.getTask(said, files, null, options, null, files.getJavaFileObjectsFromPaths(sources)).call();
        }
        if (!compiled) {
            write("{\"collect\": \"\", \"detail\": " + quoted(said.toString()) + "}");
            write("{\"complete\": 1, \"lines\": " + lines + "}");
            return;
        }
        List<String> names = new ArrayList<>(Arrays.asList(args).subList(2, args.length));
        if (names.isEmpty()) for (Path source : sources) names.addAll(classOf(source));
        URLClassLoader loader = new URLClassLoader(new URL[] {classes.toUri().toURL(), resources()}, RemedyJunit.class.getClassLoader());
        Thread.currentThread().setContextClassLoader(loader);
        JUnitCore core = new JUnitCore();
        core.addListener(new Listener());
        for (String name : names) {
            try {
                core.run(Class.forName(name, true, loader));
            } catch (ClassNotFoundException | LinkageError error) {
                write("{\"collect\": " + quoted(name) + ", \"detail\": " + quoted(String.valueOf(error)) + "}");
            }
        }
        write("{\"complete\": 0, \"lines\": " + lines + "}");
    }

    static URL resources() throws Exception {
        return new File("src/test/resources").toURI().toURL();
    }

    static List<String> classOf(Path source) throws Exception {
        String text = Files.readString(source);
        if (!Pattern.compile("@(?:org\\.junit\\.)?(?:Test|Theory)\\b|extends\\s+(?:\\w+\\.)*TestCase").matcher(text).find()) return List.of();
        Matcher named = Pattern.compile("(?m)^\\s*package\\s+([\\w.]+)\\s*;").matcher(text);
        String simple = source.getFileName().toString().replaceAll("\\.java$", "");
        return List.of(named.find() ? named.group(1) + "." + simple : simple);
    }
}
