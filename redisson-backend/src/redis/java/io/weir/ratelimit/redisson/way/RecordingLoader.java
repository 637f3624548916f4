// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.way;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;

/** A class loader whose classes of Weir report each call of their methods to {@link RecordedTypes}. */
final class RecordingLoader extends ClassLoader {
    private static final String WEIR = "io.weir.ratelimit.";
    private static final String RECORDER = RecordedTypes.class.getName().replace('.', '/');

    RecordingLoader() {
        super(RecordingLoader.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(WEIR) || name.equals(RecordedTypes.class.getName())) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known != null ? known : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            ClassReader reader = new ClassReader(file.readAllBytes());
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            reader.accept(reporting(writer, simpleName(name)), 0);
            byte[] code = writer.toByteArray();
            return defineClass(name, code, 0, code.length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String simpleName(String name) {
        String type = name.substring(name.lastIndexOf('.') + 1);
        int nested = type.indexOf('$');
        return nested < 0 ? type : type.substring(0, nested);
    }

    private static ClassVisitor reporting(ClassVisitor next, String type) {
        return new ClassVisitor(Opcodes.ASM9, next) {
            @Override
            public MethodVisitor visitMethod(
                    int access, String name, String descriptor, String signature, String[] exceptions) {
                MethodVisitor method = super.visitMethod(access, name, descriptor, signature, exceptions);
                return new MethodVisitor(Opcodes.ASM9, method) {
                    @Override
                    public void visitCode() {
                        super.visitCode();
                        visitLdcInsn(type);
                        visitMethodInsn(Opcodes.INVOKESTATIC, RECORDER, "runs", "(Ljava/lang/String;)V", false);
                    }
                };
            }
        };
    }
}
